package main

import (
	"fmt"
	"strconv"
	"strings"
)

// Who makes a move.
const (
	human = "human"
	model = "model"
)

// A move is what one side says, and the tools that the model calls with it.
type move struct {
	line  int
	who   string
	text  string
	calls []call
}

// A call is one tool call. What the fields mean depends on the tool.
type call struct {
	tool     string // read, grep, edit, editall, write or bash
	arg      string // path, pattern or command
	from, to int    // read: lines, from 1; 0: the whole file
	old, new string // edit: text and its replacement; write: new is the content
}

// parse reads a script. A line that begins with @ opens a move or a call, what
// follows it is its text; lines before the first move are comments.
func parse(script string) ([]move, error) {
	var moves []move
	lines := strings.Split(script, "\n")
	for i := 0; i < len(lines); {
		head, ok := strings.CutPrefix(lines[i], "@")
		no := i + 1
		i++
		if !ok {
			continue
		}
		start := i
		for i < len(lines) && !strings.HasPrefix(lines[i], "@") {
			i++
		}
		text := strings.Trim(strings.Join(lines[start:i], "\n"), "\n")
		if head == human || head == model {
			moves = append(moves, move{line: no, who: head, text: text})
			continue
		}
		if len(moves) == 0 || moves[len(moves)-1].who != model {
			return nil, fmt.Errorf("script line %d: want a call below @model, got it elsewhere", no)
		}
		c, err := parseCall(head, text)
		if err != nil {
			return nil, fmt.Errorf("script line %d: %w", no, err)
		}
		last := &moves[len(moves)-1]
		last.calls = append(last.calls, c)
	}
	return moves, nil
}

// parseCall reads "tool argument" and the text below it.
func parseCall(head, text string) (call, error) {
	tool, arg, _ := strings.Cut(head, " ")
	c := call{tool: tool, arg: arg}
	switch tool {
	case "bash", "grep":
	case "read":
		return c, c.readLines()
	case "write":
		c.new = text + "\n"
	case "edit", "editall":
		old, replacement, ok := strings.Cut(text, "\n====\n")
		if !ok || !strings.HasPrefix(old, "<<<<\n") || !strings.HasSuffix(replacement, "\n>>>>") {
			return c, fmt.Errorf("edit of %s, want <<<<, ====, >>>> on lines of their own, got something else", arg)
		}
		c.old, c.new = strings.TrimPrefix(old, "<<<<\n"), strings.TrimSuffix(replacement, "\n>>>>")
	default:
		return c, fmt.Errorf("tool, want read, grep, edit, editall, write or bash, got %q", tool)
	}
	return c, nil
}

// readLines splits "path from to".
func (c *call) readLines() error {
	f := strings.Fields(c.arg)
	if len(f) != 3 {
		return nil
	}
	from, err1 := strconv.Atoi(f[1])
	to, err2 := strconv.Atoi(f[2])
	if err1 != nil || err2 != nil || from < 1 || to < from {
		return fmt.Errorf("read, want path, first line, last line, got %q", c.arg)
	}
	c.arg, c.from, c.to = f[0], from, to
	return nil
}
