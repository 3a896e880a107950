// Package taubench reads the result files of tau-bench: an array of runs, each with
// a task, a trial and the conversation in the Chat format. It is for
// sessionfile/formats only.
//
// The user of a run is played by a model that stands in a person's place: its words
// are what the agent has to serve, so they are Human. The file has neither usage nor
// tools, and does not name the agent's model.
package taubench

import (
	"bytes"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// Reader returns the reader of tau-bench results.
func Reader() read.Reader {
	return read.Reader{Formats: []sessionfile.Format{sessionfile.FormatTauBench}, Document: detect, Read: readFile}
}

// detect tells the file by the fields of its first run.
func detect(d *read.Document) sessionfile.Format {
	if d.Bytes[0] == '[' && isRun(d.First()) {
		return sessionfile.FormatTauBench
	}
	return ""
}

func isRun(f read.Fields) bool {
	return f.Has("task_id", "reward", "info", "traj") && f["traj"][0] == '['
}

// readFile reads one segment out of each run.
func readFile(r *read.Reading, in *read.Input) error {
	d, err := chatlog.Document(r, in)
	if err != nil {
		return err
	}
	r.Session.Client, r.Session.Dialect = "tau-bench", chatlog.Dialect
	read.EachElement(d.Bytes, func(value []byte) bool {
		if f := read.FieldsOf(value); isRun(f) {
			readRun(r, d, f)
		} else {
			r.Problem(d.Line(value), "a run, skipped: want task_id, reward, info and traj, got %.40q", value)
		}
		return !r.Stopped()
	})
	return nil
}

func readRun(r *read.Reading, d *read.Document, run read.Fields) {
	name := "task " + label(run["task_id"])
	if run.Has("trial") {
		name += ", trial " + label(run["trial"])
	}
	log := chatlog.New(r, name)
	read.EachElement(run["traj"], func(value []byte) bool {
		line := d.Line(value)
		m, ok := log.Decode(line, read.FieldsOf(value))
		if !ok {
			return true
		}
		if e := log.Add(line, m); e != nil && m.Origin == llm.Model {
			e.Step = &sessionfile.Step{}
		}
		return true
	})
	log.Close()
}

// label returns a number or a text of a few characters.
func label(value []byte) string {
	const longest = 100
	return string(bytes.ToValidUTF8(bytes.Trim(value[:min(len(value), longest)], `"`), nil))
}
