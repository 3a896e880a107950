package inspectlog

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// Reader returns the reader of Inspect's logs.
func Reader() read.Reader {
	return read.Reader{
		Formats:  []sessionfile.Format{sessionfile.FormatInspect},
		Document: detect,
		Zip:      detectZip,
		Read:     readFile,
	}
}

// detect tells a log by its fields.
func detect(d *read.Document) sessionfile.Format {
	if f := d.Fields(); isHead(f) && (f.Has("status") || f.Has("samples")) {
		return sessionfile.FormatInspect
	}
	return ""
}

// isHead reports whether an object says what was evaluated.
func isHead(f read.Fields) bool {
	eval := f.Of("eval")
	return f.Has("version") && eval.Has("task", "model") && (eval.Has("run_id") || eval.Has("task_id"))
}

// A log is a file being read.
type log struct {
	*read.Reading
	model  string // of the evaluation
	epochs bool   // there are several

	expanded int // bytes that were put back into conversations
}

// readFile reads a log of either kind.
func readFile(r *read.Reading, in *read.Input) error {
	l := &log{Reading: r}
	r.Session.Client, r.Session.Dialect = "inspect", chatlog.Dialect
	head, err := in.Head(len(magic))
	if err != nil {
		return err
	}
	if string(head) == magic {
		return l.zip(in)
	}
	d, err := chatlog.Document(r, in)
	if err != nil {
		return err
	}
	f := d.Fields()
	l.head(f)
	read.EachElement(f["samples"], func(value []byte) bool {
		l.sample(value, d.Line)
		return !r.Stopped()
	})
	return nil
}

// head takes in what was evaluated.
func (l *log) head(f read.Fields) {
	eval := f.Of("eval")
	for _, name := range []string{"eval_id", "run_id", "task_id"} {
		if l.Session.ID == "" {
			l.Session.ID = eval.Str(name)
		}
	}
	l.Session.ClientVersion = eval.Of("packages").Str("inspect_ai")
	l.model = eval.Str("model")
	n, err := strconv.Atoi(string(eval.Of("config")["epochs"]))
	l.epochs = err == nil && n > 1
}

// name returns what a sample is called.
func (l *log) name(id, epoch []byte) string {
	name := "sample " + label(id)
	if n := label(epoch); n != "" && (l.epochs || n != "1") {
		name += ", epoch " + n
	}
	return name
}

// label returns a number or the beginning of a text.
func label(value []byte) string {
	const longest = 200
	if text := read.Str(value); text != "" {
		value = []byte(text)
	}
	return strings.TrimSpace(string(bytes.ToValidUTF8(value[:min(len(value), longest)], nil)))
}
