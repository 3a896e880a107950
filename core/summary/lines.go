package summary

import (
	"slices"
	"strconv"
	"strings"
)

// Words of the lines, which are read back from earlier summaries.
const (
	openPrefix  = "no result yet: "
	stepPrefix  = "step: "
	resultArrow = " ⇒ "
	goneSuffix  = ", now gone)"
)

// counted are the words of a file's counts, in the order of fileCounts.
var counted = []string{"read ", "written ", "deleted "}

// factLines writes the facts as lines, by section. Facts about one file or command
// become one line.
func factLines(f Facts) map[string][]string {
	lines := map[string][]string{}
	seen := map[[2]string]bool{}
	add := func(title, text string) {
		if key := [2]string{title, text}; !seen[key] {
			seen[key] = true
			lines[title] = append(lines[title], "- "+text)
		}
	}
	for _, s := range f.Plan {
		add(titleOpen, stepPrefix+s.Text)
	}
	for _, s := range f.Todos {
		add(titleOpen, s.Text)
	}
	for _, s := range f.Open {
		add(titleOpen, openPrefix+s.Text)
	}
	for _, s := range f.Decisions {
		add(titleDecisions, s.Text)
	}
	for _, e := range f.Errors {
		if !e.Resolved {
			add(titleErrors, "["+e.Subject+"] "+e.Text)
		}
	}
	for _, file := range oncePerFile(f.Files) {
		title := titleRead
		if file.Writes+file.Deletions > 0 {
			title = titleChanged
		}
		add(title, fileLine(file))
	}
	for _, c := range oncePerCommand(f.Commands) {
		add(titleCommands, commandLine(c))
	}
	for _, s := range f.Done {
		add(titleDone, s.Text)
	}
	return lines
}

// oncePerFile adds up the counts of files that stand in the list twice, because an
// earlier summary had them too. A file stands where it was last used.
func oncePerFile(files []File) []File {
	last := make(map[string]int, len(files))
	for i, f := range files {
		last[f.Path] = i
	}
	sums := map[string]File{}
	var once []File
	for i, f := range files {
		sum := sums[f.Path]
		f.Reads, f.Writes, f.Deletions = f.Reads+sum.Reads, f.Writes+sum.Writes, f.Deletions+sum.Deletions
		f.Deleted = f.Deleted || sum.Deleted && f.Writes == sum.Writes
		sums[f.Path] = f
		if last[f.Path] == i {
			once = append(once, f)
		}
	}
	return once
}

// oncePerCommand does the same for commands. An arrow in a command gives way, so
// that the line can be read back.
func oncePerCommand(commands []Command) []Command {
	type key struct{ line, dir string }
	last := make(map[key]int, len(commands))
	commands = slices.Clone(commands)
	for i, c := range commands {
		c.Line, c.Dir = plainArrow(c.Line), plainArrow(c.Dir)
		commands[i] = c
		last[key{c.Line, c.Dir}] = i
	}
	times := map[key]int{}
	var once []Command
	for i, c := range commands {
		k := key{c.Line, c.Dir}
		times[k] += c.Times
		if last[k] == i {
			c.Times = times[k]
			once = append(once, c)
		}
	}
	return once
}

func plainArrow(text string) string {
	return strings.ReplaceAll(text, strings.TrimSpace(resultArrow), "=>")
}

// fileLine writes "path (read 3, written 2, deleted 1, now gone)".
func fileLine(f File) string {
	var counts []string
	for i, n := range []int{f.Reads, f.Writes, f.Deletions} {
		if n > 0 {
			counts = append(counts, counted[i]+strconv.Itoa(n))
		}
	}
	end := ")"
	if f.Deleted {
		end = goneSuffix
	}
	return f.Path + " (" + strings.Join(counts, ", ") + end
}

// parseFile reads what fileLine wrote.
func parseFile(line string) (File, bool) {
	at := strings.LastIndex(line, " (")
	if at < 1 || !strings.HasSuffix(line, ")") {
		return File{}, false
	}
	f := File{Path: line[:at]}
	counts := line[at+2:]
	if counts, f.Deleted = strings.CutSuffix(counts, goneSuffix); !f.Deleted {
		counts = strings.TrimSuffix(counts, ")")
	}
	for c := range strings.SplitSeq(counts, ", ") {
		known := false
		for i, n := range []*int{&f.Reads, &f.Writes, &f.Deletions} {
			if text, ok := strings.CutPrefix(c, counted[i]); ok {
				known = readCount(text, n)
			}
		}
		if !known {
			return File{}, false
		}
	}
	return f, true
}

// readCount reads a count of a sane size.
func readCount(text string, n *int) bool {
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 || v > 1_000_000_000 {
		return false
	}
	*n = v
	return true
}

// commandLine writes "line in dir ⇒ exit 0, 3 times: result".
func commandLine(c Command) string {
	line := c.Line
	if c.Dir != "" {
		line += inDir + c.Dir
	}
	line += resultArrow
	switch {
	case c.ExitKnown:
		line += "exit " + strconv.Itoa(c.Exit)
	case c.Failed:
		line += "failed"
	case c.Running:
		line += "left running"
	default:
		line += "done"
	}
	if c.Times > 1 {
		line += ", " + strconv.Itoa(c.Times) + " times"
	}
	if c.Result != "" {
		line += ": " + c.Result
	}
	return line
}

// inDir stands between a command and its folder. A blank more than usual, which no
// shortened line holds, keeps the two apart.
const inDir = "  in "

// parseCommand reads what commandLine wrote.
func parseCommand(line string) (Command, bool) {
	head, tail, ok := strings.Cut(line, resultArrow)
	if !ok || head == "" {
		return Command{}, false
	}
	c := Command{Times: 1}
	c.Line, c.Dir, _ = strings.Cut(head, inDir)
	verdict, result, _ := strings.Cut(tail, ": ")
	c.Result = result
	verdict, times, many := strings.Cut(verdict, ", ")
	if many && !readCount(strings.TrimSuffix(times, " times"), &c.Times) {
		return Command{}, false
	}
	code, exit := strings.CutPrefix(verdict, "exit ")
	switch {
	case exit:
		n, err := strconv.Atoi(code)
		c.Exit, c.ExitKnown, c.Failed = n, true, n != 0
		return c, err == nil
	case verdict == "failed":
		c.Failed = true
	case verdict == "left running":
		c.Running = true
	case verdict != "done":
		return Command{}, false
	}
	return c, true
}
