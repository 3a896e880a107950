package replay_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// hugeReads is a made-up session of an agent that reads whole files of 2,000 to 30,000 tokens,
// searches, and edits lines of what it has read: half of the time of the file that it read last,
// else of an older one. It follows from its seed alone.
func hugeReads(seed uint64) *sessionfile.Session {
	g := &reader{rand: rand.New(rand.NewPCG(seed, 7))}
	g.say(llm.RoleUser, llm.Human, llm.Text{Text: "Rename the gauges of the lock and mend what breaks. Read each file whole first."})
	for n := range 40 {
		switch k := g.rand.IntN(10); {
		case n == 0 || k < 4:
			g.read(fmt.Sprintf("lock/chamber_%02d_%d.go", n, g.rand.IntN(1000)))
		case k < 6:
			g.search()
		default:
			g.edit()
		}
	}
	g.say(llm.RoleAssistant, llm.Model, llm.Text{Text: "All gauges have their new names."})
	return &sessionfile.Session{Path: fmt.Sprintf("huge-reads-%d.jsonl", seed), Segments: []sessionfile.Segment{{Start: sessionfile.StartRoot, Entries: g.entries}}}
}

// A reader writes what such an agent does.
type reader struct {
	rand    *rand.Rand
	entries []sessionfile.Entry
	files   []readFile
}

type readFile struct {
	path  string
	lines []string
}

func (g *reader) say(role llm.Role, origin llm.Origin, parts ...llm.Part) {
	e := sessionfile.Entry{Message: llm.Message{Role: role, Origin: origin, Parts: parts}}
	if role == llm.RoleAssistant {
		e.Step = &sessionfile.Step{Model: "claude-sonnet-4-5"}
	}
	g.entries = append(g.entries, e)
}

// call makes a Round.
func (g *reader) call(name, args, output string) {
	id := fmt.Sprint("c", len(g.entries))
	g.say(llm.RoleAssistant, llm.Model, llm.ToolCall{CallID: id, Name: name, Args: args})
	g.say(llm.RoleTool, llm.ToolRun, llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: output}}})
}

func (g *reader) read(path string) {
	f := readFile{path: path}
	for range 200 + g.rand.IntN(2_800) { // of some 40 bytes
		f.lines = append(f.lines, fmt.Sprintf("\tgaugeOf%04d.Set(level%d, %d) // %s", g.rand.IntN(10_000), g.rand.IntN(500), g.rand.IntN(100_000), g.word()))
	}
	g.files = append(g.files, f)
	g.call("read", fmt.Sprintf(`{"path":%q}`, path), strings.Join(f.lines, "\n"))
}

func (g *reader) word() string {
	words := strings.Fields("upper lower gate sluice paddle sill pound weir culvert mitre")
	return words[g.rand.IntN(len(words))]
}

// old returns a file that was read: the last one half of the time.
func (g *reader) old() readFile {
	if g.rand.IntN(2) == 0 {
		return g.files[len(g.files)-1]
	}
	return g.files[g.rand.IntN(len(g.files))]
}

func (g *reader) search() {
	f := g.old()
	name, _, _ := strings.Cut(strings.TrimSpace(f.lines[g.rand.IntN(len(f.lines))]), ".")
	var found strings.Builder
	for i, l := range f.lines {
		if strings.Contains(l, name) {
			fmt.Fprintf(&found, "%s:%d:%s\n", f.path, i+1, l)
		}
	}
	g.call("grep", fmt.Sprintf(`{"pattern":%q,"path":%q}`, name, f.path), found.String())
}

func (g *reader) edit() {
	f := g.old()
	at, n := g.rand.IntN(len(f.lines)-4), 1+g.rand.IntN(4)
	was := strings.Join(f.lines[at:at+n], "\n")
	for i := range n {
		f.lines[at+i] = strings.Replace(f.lines[at+i], "gaugeOf", "gauge", 1)
	}
	g.call("edit", fmt.Sprintf(`{"file_path":%q,"old_string":%q,"new_string":%q}`, f.path, was, strings.Join(f.lines[at:at+n], "\n")), "The file has been updated.")
}
