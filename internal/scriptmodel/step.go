package scriptmodel

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// step reads an indented line: one thing that the reply above does.
func (s *Script) step(r *reader) error {
	reply := &s.Replies[len(s.Replies)-1].Reply
	if err := reply.step(r); err != nil {
		return err
	}
	return r.end("step")
}

func (p *Reply) step(r *reader) (err error) {
	const want = "text, words, thinking, call, search, stop, usage, status, later, delay, pause, cut, drop, malformed, fail or ping"
	at := *r
	switch name := r.next(); name {
	case "text", "words", "thinking", "call", "search":
		return p.say(name, r)
	case "stop":
		p.Stop, err = r.stop()
	case "usage":
		p.Usage, err = r.usage()
	case "status":
		err = p.status(r)
	case "later":
		p.Later, err = r.duration(name)
	case "delay":
		p.Delay, err = r.duration(name)
	case "pause":
		p.Pause, err = r.duration(name)
	case "cut":
		err = p.fault(FaultCut, r)
	case "drop":
		err = p.fault(FaultDrop, r)
	case "malformed":
		err = p.fault(FaultMalformed, r)
	case "fail":
		err = p.fault(FaultFail, r)
	case "ping":
		err = p.fault(FaultPing, r)
	default:
		return at.wrong("step", want)
	}
	return err
}

// say reads a part of the reply.
func (p *Reply) say(name string, r *reader) (err error) {
	var s Saying
	switch name {
	case "text":
		s.Kind = SayText
		s.Text, err = r.text(name)
	case "words":
		s.Kind = SayWords
		s.N, err = r.count(name, 1)
	case "thinking":
		s.Kind = SayThinking
		if r.skip("hidden") {
			s.Kind = SayHidden
			break
		}
		s.Text, err = r.text(name)
	case "search":
		s.Kind = SaySearch
		s.Text, err = r.text(name)
		for err == nil && r.more() {
			s.Found = append(s.Found, r.next())
		}
	case "call":
		if r.skip("shell") {
			s.Kind = SayShell
			s.Text, err = r.text("call shell")
			break
		}
		s.Kind = SayCall
		at := *r
		if s.Name = r.next(); !plain(s.Name) {
			return at.wrong("call", "the name of a tool")
		}
		s.Text = "{}"
		if r.more() {
			s.Text, err = r.object("arguments")
		}
	}
	p.Parts = append(p.Parts, s)
	return err
}

// stops are the words for the reasons to stop.
func stops() []llm.Stop {
	return []llm.Stop{
		llm.StopEnd, llm.StopTool, llm.StopLength, llm.StopWindow, llm.StopSequence, llm.StopPause, llm.StopRefusal, llm.StopCompaction,
	}
}

func (r *reader) stop() (llm.Stop, error) {
	at := *r
	name := r.next()
	for _, s := range stops() {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, at.wrong("stop", "end, tool, length, window, sequence, pause, refusal or compaction")
}

// usage reads what is reported in place of what was counted.
func (r *reader) usage() (*llm.Usage, error) {
	var u llm.Usage
	fields := map[string]*int{
		"input": &u.Input, "read": &u.CacheRead, "write": &u.CacheWrite5m, "write1h": &u.CacheWrite1h,
		"output": &u.Output, "reasoning": &u.Reasoning,
	}
	if !r.more() {
		return nil, r.wrong("usage", "input, read, write, write1h, output or reasoning")
	}
	for r.more() {
		at := *r
		name := r.next()
		field, ok := fields[name]
		if !ok {
			return nil, at.wrong("usage", "input, read, write, write1h, output or reasoning")
		}
		n, err := r.count(name, 0)
		if err != nil {
			return nil, err
		}
		*field = n
	}
	return &u, nil
}

// status reads an error that is answered in place of a reply.
func (p *Reply) status(r *reader) (err error) {
	at := *r
	if p.Status, err = r.count("status", 400); err != nil || p.Status > 599 {
		return at.wrong("status", "an HTTP status of 400 to 599")
	}
	if r.skip("retry-after") {
		if p.Retry, err = r.count("retry-after", 0); err != nil {
			return err
		}
	}
	p.Say, _ = r.quotedNext()
	return nil
}

// fault reads "after N events" or "after N bytes".
func (p *Reply) fault(kind FaultKind, r *reader) (err error) {
	f := Fault{Kind: kind, Events: true}
	if r.skip("after") {
		if f.After, err = r.count("after", 0); err != nil {
			return err
		}
		switch {
		case r.skip("events"):
		case (kind == FaultCut || kind == FaultDrop) && r.skip("bytes"):
			f.Events = false
		case kind == FaultCut || kind == FaultDrop:
			return r.wrong("after", "events or bytes")
		default:
			return r.wrong("after", "events")
		}
	}
	p.Faults = append(p.Faults, f)
	return nil
}
