package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/sessionfile/places"
)

// A sessionName is what makes sessions one by what their files say.
type sessionName struct {
	format     sessionfile.Format
	id, parent string
}

// A heldSession is a session as one file has it.
type heldSession struct {
	path  string
	reply llm.Digest // the first one of the file; zero if there is none
	time  int64      // of it
}

// seenSessions are the sessions of the files of one run, so that none is counted twice.
type seenSessions map[sessionName][]heldSession

// add notes the session of a file with its first segment. What is wrong is that a file
// before has its id; twin is that file if it has the same first reply as well, so that the
// sums of both are sums of the same calls. An id that is only the file's name says nothing
// without such a reply.
func (k seenSessions) add(s *sessionfile.Session, first sessionfile.Segment) (wrong, twin string) {
	name := sessionName{s.Format, s.ID, s.Parent}
	own := heldSession{path: s.Path}
	if i := slices.IndexFunc(first.Entries, func(e sessionfile.Entry) bool { return e.Step != nil }); i >= 0 {
		own.reply, own.time = llm.DigestOf(first.Entries[i].Message), first.Entries[i].Time
	}
	before := k[name]
	k[name] = append(before, own)
	for _, held := range before {
		if held.reply == own.reply && held.time == own.time && own.reply != (llm.Digest{}) {
			return fmt.Sprintf("want one file of session %q, got also %s: sums of several files have the one with more calls", s.ID, held.path), held.path
		}
	}
	if len(before) > 0 && s.ID != nameOf(s.Path) {
		return fmt.Sprintf("want one file of session %q, got also %s, with other calls", s.ID, before[0].path), ""
	}
	return "", ""
}

// nameOf returns the name of a file without its ending.
func nameOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// missingParent says that the session from which one began is not where its client would
// keep it; empty if it is there, or if nobody knows where that is.
func missingParent(s *sessionfile.Session) string {
	if s.Parent == "" || s.Path == stdinName {
		return ""
	}
	if _, err := places.Parent(s.Path); err != nil {
		return err.Error()
	}
	return ""
}

// agentsOf inspects the sub-agents of the session in a file. wrong says what is wrong with
// their files; the error that a model's counter could not be made.
func agentsOf(name string, look func(*sessionfile.Session) (inspect.Report, error)) (agents []inspect.Report, wrong []string, err error) {
	if name == stdinName {
		return nil, nil, nil
	}
	files, err := places.Agents(name)
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	for _, file := range files {
		s, err := formats.Open(file)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		report, err := look(s)
		if err != nil {
			return nil, wrong, err
		}
		agents = append(agents, report)
	}
	return agents, wrong, nil
}
