package openhands

import (
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// Reader returns the reader of OpenHands' files.
func Reader() read.Reader {
	return read.Reader{
		Formats:  []sessionfile.Format{sessionfile.FormatOpenHands},
		Line:     detectLine,
		Document: detect,
		Read:     readFile,
	}
}

// detectLine tells a line of an output.jsonl by the fields of a run.
func detectLine(f read.Fields) sessionfile.Format {
	if isRun(f) {
		return sessionfile.FormatOpenHands
	}
	return ""
}

// isRun reports whether an object is a line of an output.jsonl: of the evaluation,
// which names an instance, or of the resolver, which has an issue.
func isRun(f read.Fields) bool {
	history := f["history"]
	return len(history) > 0 && history[0] == '[' && f.Has("instruction", "metrics") && (f.Has("instance_id") || f.Has("issue"))
}

// detect tells a trajectory by its first event.
func detect(d *read.Document) sessionfile.Format {
	if isEvent(firstOf(events(d))) {
		return sessionfile.FormatOpenHands
	}
	return ""
}

// events returns the array of events of a trajectory, or nil.
func events(d *read.Document) []byte {
	if d.Bytes[0] == '[' {
		return d.Bytes
	}
	return d.Fields()["trajectory"]
}

func firstOf(array []byte) read.Fields {
	var first read.Fields
	read.EachElement(array, func(value []byte) bool {
		first = read.FieldsOf(value)
		return false
	})
	return first
}

func isEvent(f read.Fields) bool {
	switch f.Str("source") {
	case "agent", "user", "environment":
	default:
		return false
	}
	if !f.Has("id", "timestamp") {
		return false
	}
	return f.Str("action") != "" && f.Has("args") || f.Str("observation") != "" && f.Has("extras")
}

// readFile reads a trajectory, or the lines of an output.jsonl.
func readFile(r *read.Reading, in *read.Input) error {
	r.Session.Client, r.Session.Dialect = "openhands", chatlog.Dialect
	if !hasRuns(in) {
		d, err := chatlog.Document(r, in)
		if err != nil {
			return err
		}
		t := newTrajectory(r, "", d.Line)
		t.read(events(d))
		t.Close()
		return nil
	}
	in.Each(r, func(l read.Line) {
		object, ok := r.Object(l)
		if !ok {
			return
		}
		run := read.FieldsOf(object)
		if !isRun(run) {
			r.Problem(l.No, "a line, skipped: want a run with its history")
			return
		}
		t := newTrajectory(r, nameOf(run), func([]byte) int { return l.No })
		t.harness = true
		t.model = run.Of("metadata").Of("llm_config").Str("model")
		from := r.Emitted()
		t.read(run["history"])
		t.Fail(read.Outcome{Line: l.No, Words: run.Str("error")})
		t.Close()
		t.stated(l.No, from, run.Of("metrics"))
	})
	return nil
}

// hasRuns reports whether one of the first objects on lines of their own is a run, as
// detectLine was asked.
func hasRuns(in *read.Input) bool {
	const most = 64
	if d := in.OneLine(); d != nil {
		return isRun(d.Fields())
	}
	found, objects := false, 0
	peek := read.NewReading("", "", func(sessionfile.Segment) bool { return false })
	in.Peek(peek, func(l read.Line) {
		if found || objects == most {
			peek.Stop()
			return
		}
		if object, ok := peek.Object(l); ok {
			objects++
			found = isRun(read.FieldsOf(object))
		}
	})
	return found
}

// nameOf returns the name of a run: its instance, or its issue as owner/repo#number.
func nameOf(run read.Fields) string {
	if id := run.Str("instance_id"); id != "" {
		return id
	}
	issue := run.Of("issue")
	name := strings.Trim(issue.Str("owner")+"/"+issue.Str("repo"), "/")
	if n, err := strconv.Atoi(string(issue["number"])); err == nil {
		name += "#" + strconv.Itoa(n)
	}
	return name
}
