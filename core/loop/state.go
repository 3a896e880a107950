package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// stateVersion is the form of a saved state. It rises when an older program would read a
// state wrongly.
const stateVersion = 1

// wish is what a model is to be asked for.
type wish string

const (
	nothing wish = ""
	folding wish = "fold" // to take what has left the window into the summary
	anew    wish = "anew" // to write the whole summary anew
)

// A running is an iteration between Began and Output.
type running struct {
	Number   int       `json:"number"`
	Began    int64     `json:"began"`
	Prompt   string    `json:"prompt"` // whole, to know its echo by
	Tokens   int       `json:"tokens"`
	Messages []Message `json:"messages,omitempty"` // that it shows; they come again if it is interrupted
}

// A recalled is what was found for an iteration's prompt.
type recalled struct {
	Number   int       `json:"number"` // of that iteration
	Passages []Passage `json:"passages"`
}

// Counters are what the end of the loop and its alerts go by. All but Asked and ListDone
// count in a row.
type counters struct {
	Asked    int    `json:"asked"`     // questions so far
	Stuck    int    `json:"stuck"`     // iterations without progress
	Recovery int    `json:"recovery"`  // begun with advice
	Same     int    `json:"same"`      // identical outputs
	Digest   string `json:"digest"`    // of the last output
	Fast     int    `json:"fast"`      // iterations of next to no time
	ListDone int    `json:"list_done"` // the most finished items of a checklist
}

// A state is all that a Machine knows. It is written and read back as it is.
type state struct {
	Version  int         `json:"version"`
	Context  LoopContext `json:"context"`
	Facts    []fact      `json:"facts"`   // of all iterations, in their order
	Written  string      `json:"written"` // the summary that a model wrote last
	Want     wish        `json:"want"`
	Held     bool        `json:"held"` // a model failed: it is not asked before the next interval
	Running  *running    `json:"running"`
	Messages []Message   `json:"messages"` // not shown yet, in their order
	Recalled *recalled   `json:"recalled,omitempty"`
	Known    []Memo      `json:"known,omitempty"`
	Paused   bool        `json:"paused"`
	Stopping bool        `json:"stopping"` // once the running iteration has ended
	End      Reason      `json:"end"`
	Why      string      `json:"why"`
	Counters counters    `json:"counters"`
	Elapsed  int64       `json:"elapsed"` // milliseconds that the loop ran
	Seen     int64       `json:"seen"`    // the time at the last input; 0: none yet
}

// save writes a state.
func (s *state) save() []byte {
	out, err := json.Marshal(s)
	if err != nil { // no value of these types can fail
		panic(fmt.Sprintf("loop: save: %v", err))
	}
	return out
}

// load reads a state that save wrote, and refuses one that no Machine can have had.
func load(data []byte) (*state, error) {
	s := new(state)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("loop: restore: %w", err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("loop: restore: version, want %d, got %d", stateVersion, s.Version)
	}
	c := s.Context
	if blank(c.Task.Goal) {
		return nil, errors.New("loop: restore: goal, want one, got none")
	}
	if c.Folded() < 0 {
		return nil, fmt.Errorf("loop: restore: iterations, want at most %d, got %d", c.TotalIterations, len(c.Iterations))
	}
	for i, it := range c.Iterations {
		if want := c.Folded() + 1 + i; it.Number != want {
			return nil, fmt.Errorf("loop: restore: iteration, want number %d, got %d", want, it.Number)
		}
	}
	if r := s.Running; r != nil && r.Number != c.TotalIterations+1 {
		return nil, fmt.Errorf("loop: restore: running iteration, want number %d, got %d", c.TotalIterations+1, r.Number)
	}
	if n := s.Counters; n.Stuck < 0 || n.Recovery < 0 || n.Asked < 0 {
		return nil, fmt.Errorf("loop: restore: counters, want none below 0, got %+v", n)
	}
	if err := s.words(); err != nil {
		return nil, err
	}
	return s, nil
}

// words checks what is written as one of several words, and the order of the facts.
func (s *state) words() error {
	if !slices.Contains([]wish{nothing, folding, anew}, s.Want) {
		return fmt.Errorf("loop: restore: want, want one that is known, got %q", s.Want)
	}
	if s.End != "" && !slices.Contains([]Reason{GoalComplete, FatalError, ManualStop, AlertPause, RecoveryFailed, IterationLimit, TimeLimit}, s.End) {
		return fmt.Errorf("loop: restore: end, want a reason that is known, got %q", s.End)
	}
	last := 1
	for _, f := range s.Facts {
		known := false
		for _, t := range titles {
			known = known || t.kind == f.Kind
		}
		if !known || f.Iteration < last || f.Iteration > s.Context.TotalIterations {
			return fmt.Errorf("loop: restore: fact, want a kind that is known, of iteration %d to %d, got %s of %d", last, s.Context.TotalIterations, f.Kind, f.Iteration)
		}
		last = f.Iteration
	}
	return nil
}
