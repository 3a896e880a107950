package plimsoll

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/prompt"
)

// A Prompt says what the system prompt of a session is made of. Each piece is a section by
// itself, in the order of how seldom it changes, so that a provider's cache keeps what it can:
// the base, the project's rules, memories, skills ([Session.SetSkill]), and notes of the
// program's own ([Session.SetScratchpad]).
type Prompt struct {
	// Base is what the program tells every model first. It should never change.
	Base string
	// Rules is the folder of a project that may have a file of rules for agents ([RulesFiles]).
	// The first that is there is read, and again before a request if it was edited. A link that
	// leads out of the folder is not followed. Empty: no folder.
	Rules string
	// Memories are what is known from earlier sessions. They are those of the session's start:
	// one that is taken up keeps what it began with.
	Memories string
}

// RulesFiles returns the names of files with a project's rules, of which the first that is
// there counts.
func RulesFiles() []string { return []string{"AGENTS.md", "CLAUDE.md", "AGENT.md"} }

// mostRules is how long such a file may be, in bytes: a longer one is none that a model
// should have in each request.
const mostRules = 256 << 10

// An assembly is what the sections of a session are now.
type assembly struct {
	memories string
	skills   []prompt.Section
	pad      string // as the model is told
	nextPad  string // from the next Turn on
	turn     bool   // a Turn has begun since the last request
	rules    rules
}

// begin takes up what a session was told before; of a new one, what its options say.
func (a *assembly) begin(o *Prompt, m *engine.Machine) {
	a.memories, a.turn = o.Memories, true
	if !m.Began() {
		return
	}
	a.memories = ""
	skill := prompt.Skill("", "").Slot.String() + " "
	for _, s := range m.ToldSections() {
		name, isSkill := strings.CutPrefix(s.Name, skill)
		switch {
		case s.Name == prompt.Memories.String():
			a.memories = s.Text
		case s.Name == prompt.Rules.String() && o.Rules != "":
			a.rules.text = s.Text // until they can be read
		case s.Name == prompt.Scratchpad.String():
			a.pad, a.nextPad = s.Text, s.Text
		case isSkill:
			a.skills = append(a.skills, prompt.Skill(name, s.Text))
		}
	}
}

// sections returns what the system prompt is made of now.
func (a *assembly) sections(o *Prompt) []prompt.Section {
	if a.turn {
		a.pad, a.turn = a.nextPad, false
	}
	all := []prompt.Section{
		prompt.Base.Section(o.Base), prompt.Rules.Section(a.rules.text), prompt.Memories.Section(a.memories), prompt.Scratchpad.Section(a.pad),
	}
	return append(all, a.skills...)
}

// SetSkill tells the model how to do something, from the next request on, as long as the
// skill is active: until it is set to an empty text. The session needs a [Prompt].
func (s *Session) SetSkill(ctx context.Context, name, text string) error {
	return s.compose(ctx, "skill", func(a *assembly) {
		i := slices.IndexFunc(a.skills, func(old prompt.Section) bool { return old.Name == name })
		switch {
		case i < 0 && text != "":
			a.skills = append(a.skills, prompt.Skill(name, text))
		case i >= 0 && text != "":
			a.skills[i].Content = text // at its place, so that what is set again changes nothing
		case i >= 0:
			a.skills = slices.Delete(a.skills, i, i+1)
		}
	})
}

// SetScratchpad tells the model notes of the program's own, from the next Turn on, in place
// of the last ones. The session needs a [Prompt].
func (s *Session) SetScratchpad(ctx context.Context, text string) error {
	return s.compose(ctx, "scratchpad", func(a *assembly) { a.nextPad = text })
}

// compose changes a piece of the system prompt.
func (s *Session) compose(ctx context.Context, what string, change func(a *assembly)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return err
	}
	if s.options.Prompt == nil {
		return fmt.Errorf("plimsoll: session %q: set %s: want Options.Prompt, got none: the host sets the sections", s.id, what)
	}
	change(&s.prompt)
	return nil
}

// assemble tells the engine what the system prompt is made of now. The lock is held.
func (s *Session) assemble(ctx context.Context) error {
	o := s.options.Prompt
	if o == nil {
		return nil
	}
	if err := s.prompt.rules.read(o.Rules); err != nil {
		s.news.add(Event{Kind: EventPrompt, Text: err.Error()})
	}
	_, err := s.feed(ctx, engine.SetPrompt{Sections: s.prompt.sections(o)})
	return err
}

// rules are a project's, as they were read last.
type rules struct {
	name string // of the file; empty: there is none
	size int64
	time time.Time
	text string
	said string // why they could not be read, as it was said last
}

// read reads the rules of a folder again if they are others than before. What cannot be read
// leaves them as they were; the error says so once.
func (r *rules) read(folder string) error {
	if folder == "" {
		return nil
	}
	err := r.from(folder)
	if err == nil {
		r.said = ""
		return nil
	}
	if err = fmt.Errorf("plimsoll: rules of the project: %w", err); err.Error() == r.said {
		return nil
	}
	r.said = err.Error()
	return err
}

func (r *rules) from(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only read
	for _, name := range RulesFiles() {
		info, err := root.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil: // such as a link that leads out
			return err
		case !info.Mode().IsRegular() || info.Size() > mostRules:
			return fmt.Errorf("%s: want a file of at most %d bytes, got %v, %d bytes", name, mostRules, info.Mode(), info.Size())
		case r.name == name && r.size == info.Size() && r.time.Equal(info.ModTime()):
			return nil
		}
		text, err := readFile(root, name)
		if err != nil {
			return err
		}
		*r = rules{name: name, size: info.Size(), time: info.ModTime(), text: text, said: r.said}
		return nil
	}
	*r = rules{said: r.said}
	return nil
}

// readFile returns a text of a folder.
func readFile(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, mostRules))
	if err == nil && !utf8.Valid(data) {
		err = fmt.Errorf("%s: want text in UTF-8", name)
	}
	return string(data), err
}

// Prompt returns the system prompt of v as one text, and the places in it, in bytes, after
// which it stays as it is for many requests.
func (v View) Prompt() (text string, breakpoints []int) { return prompt.Text(v.Sections) }
