package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Slot is a place in the order of a system prompt: what changes least stands first.
type Slot uint8

// The slots, in their order.
const (
	Base       Slot = iota // what the program is; never changes
	Rules                  // of the project, such as an AGENTS.md: when the file is edited
	Memories               // across sessions: when a session starts
	Skills                 // one section for each that is active
	Scratchpad             // the program's own notes: with every Turn
	Status                 // how full the context is: with every request
)

// slots says what each slot is.
var slots = [...]struct {
	name      string
	kind      llm.SectionKind
	cacheable bool
}{
	Base:       {"base", llm.SectionSystem, true},
	Rules:      {"rules", llm.SectionSystem, true},
	Memories:   {"memories", llm.SectionSystem, true},
	Skills:     {"skill", llm.SectionSkills, false},
	Scratchpad: {"scratchpad", llm.SectionNotes, false},
	Status:     {"status", llm.SectionNotes, false},
}

// String returns the name of s, such as "rules".
func (s Slot) String() string {
	if int(s) < len(slots) {
		return slots[s].name
	}
	return fmt.Sprintf("slot %d", uint8(s))
}

// KindOf returns the kind of the section that has a name in a request, as [Build] names it.
func KindOf(name string) llm.SectionKind {
	slot, _, _ := strings.Cut(name, " ")
	for _, s := range slots {
		if s.name == slot {
			return s.kind
		}
	}
	return llm.SectionSystem
}

// Section returns the section that stands in a slot, cacheable as the slot is by itself: the
// first three are. Of skills a program says which ones stay ([Section.Cacheable]).
func (s Slot) Section(content string) Section {
	return Section{Slot: s, Content: content, Cacheable: int(s) < len(slots) && slots[s].cacheable}
}

// Skill returns the section of the skill of that name.
func Skill(name, content string) Section {
	s := Skills.Section(content)
	s.Name = name
	return s
}

// A Section is one piece of the system prompt.
type Section struct {
	Slot    Slot
	Name    string // tells it from others in its slot; empty where it is the only one
	Content string // sent as it is; empty: the section is not there
	// Cacheable says that the section stays as it is for many requests. Those that do stand
	// before those that do not, whatever their slots are.
	Cacheable bool
}

// title names the section in a request.
func (s Section) title() string {
	if s.Name == "" {
		return s.Slot.String()
	}
	return s.Slot.String() + " " + s.Name
}

// Build orders sections, static first: the cacheable ones before the others, each in the
// order of the slots, within a slot as they came. Sections without content are left out. The
// error says what is wrong with them: a slot that does not exist, two of one name in a slot,
// so that nobody could say which one has changed, a text that is not UTF-8, of which a codec
// would send another one.
func Build(sections []Section) ([]llm.Section, error) {
	all := make([]Section, 0, len(sections))
	for _, s := range sections {
		if err := check(s, all); err != nil {
			return nil, fmt.Errorf("prompt: build: %w", err)
		}
		if s.Content != "" {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Section) int {
		return cmp.Or(last(a)-last(b), cmp.Compare(a.Slot, b.Slot))
	})
	out := make([]llm.Section, len(all))
	for i, s := range all {
		out[i] = llm.Section{Name: s.title(), Kind: slots[s.Slot].kind, Text: s.Content, Cacheable: s.Cacheable}
	}
	return out, nil
}

// last is 1 for what stands behind all that is cacheable.
func last(s Section) int {
	if s.Cacheable {
		return 0
	}
	return 1
}

// check says what is wrong with s beside those before it.
func check(s Section, before []Section) error {
	switch {
	case int(s.Slot) >= len(slots):
		return fmt.Errorf("section %q: slot, want one from %s to %s, got %d", s.Name, Base, Status, s.Slot)
	case !utf8.ValidString(s.Content):
		return fmt.Errorf("section %q: content, want UTF-8, got other bytes", s.title())
	case !utf8.ValidString(s.Name) || strings.ContainsAny(s.Name, "\r\n"):
		return fmt.Errorf("section %q: name, want one line of UTF-8", s.title())
	case slices.ContainsFunc(before, func(o Section) bool { return o.Slot == s.Slot && o.Name == s.Name }):
		return fmt.Errorf("section %q: want one of that name, got two", s.title())
	}
	return nil
}

// Plain returns sections as one text in the order that they came in, for a list that [Build]
// refuses: nothing in it is cacheable, and any change changes all of it.
func Plain(sections []Section) []llm.Section {
	var texts []string
	for _, s := range sections {
		if s.Content != "" {
			texts = append(texts, strings.ToValidUTF8(s.Content, "\uFFFD"))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return []llm.Section{{Name: "system", Text: strings.Join(texts, between)}}
}

// between stands between two sections where a format has one text for all.
const between = "\n\n"

// Text returns a system prompt as one text, and the places in it, in bytes, after which a
// provider is asked to keep it: behind the base, the rules and the memories, as far as they
// are there and stay as they are.
func Text(sections []llm.Section) (text string, breakpoints []int) {
	var b strings.Builder
	marked := documented(sections)
	for i, s := range sections {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(s.Text)
		if slices.Contains(marked, i) {
			breakpoints = append(breakpoints, b.Len())
		}
	}
	return b.String(), breakpoints
}
