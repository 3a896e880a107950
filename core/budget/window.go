package budget

import (
	"errors"
	"fmt"
)

// None states a Buffer or an OutputReserve of 0 in the window of a target that an
// engine is given, where 0 means that nobody states one.
const None = -1

// A Window is what a target takes. In one that an engine is given, a figure of 0 is not
// stated: the capacity is then what a refusal taught, what the catalogue knows or what the
// policy assumes, and buffer and reserve are the policy's.
type Window struct {
	Capacity      int // tokens of prompt and output together
	MaxInput      int // most tokens of a prompt, where that is less than the capacity; 0: the capacity is the only limit
	Buffer        int // tokens kept free for what the count gets wrong
	OutputReserve int // tokens kept free for the reply; reasoning is within it
	MaxBytes      int // of the request; 0: none known, for which the engine takes the catalogue's
	MaxImages     int // in the request; 0: as for bytes. engine.NoLimit says that there is none
}

// Limit returns what a prompt may have: the capacity less buffer and reserve, or the most
// input less the buffer if that is less. It is not positive where nothing is left.
func (w Window) Limit() int { return min(w.Capacity-w.OutputReserve, w.Input()) - w.Buffer }

// Input returns the most that a provider takes as a prompt: the capacity, or MaxInput if
// that is less.
func (w Window) Input() int {
	if w.MaxInput > 0 {
		return min(w.Capacity, w.MaxInput)
	}
	return w.Capacity
}

// Percent returns how full w is with that many tokens, rounded to the nearest percent of
// the capacity and at most 100.
func (w Window) Percent(tokens int) int {
	if w.Capacity <= 0 {
		return 100
	}
	return min(100, (ratio(sane(tokens), w.Capacity)+5)/10)
}

// ratio returns part * 1000 / whole, rounded down, for a whole above 0.
func ratio(part, whole int) int { return part/whole*1000 + part%whole*1000/whole }

// absurd is above every window that can exist; it keeps sums in range.
const absurd = 1 << 40

// Validate returns a *ConfigError for a window with a negative or an absurd
// figure, or with nothing left for a prompt.
func (w Window) Validate() error {
	for _, f := range []struct {
		name  string
		value int
	}{
		{"capacity", w.Capacity},
		{"most input", w.MaxInput},
		{"buffer", w.Buffer},
		{"output reserve", w.OutputReserve},
		{"max bytes", w.MaxBytes},
		{"max images", w.MaxImages},
	} {
		if f.value < 0 || f.value > absurd {
			return &ConfigError{Window: w, What: f.name, Want: fmt.Sprintf("0 to %d", absurd), Got: f.value}
		}
	}
	if w.Limit() <= 0 {
		return &ConfigError{Window: w, What: "limit", Want: "1 or more", Got: w.Limit()}
	}
	return nil
}

// A ConfigError says that a window cannot be worked with.
type ConfigError struct {
	Window Window
	What   string // the figure at fault
	Want   string
	Got    int
}

// Error names all figures of the window.
func (e *ConfigError) Error() string {
	input := ""
	if e.Window.MaxInput > 0 {
		input = fmt.Sprintf(", most input %d", e.Window.MaxInput)
	}
	return fmt.Sprintf("budget: window: %s, want %s, got %d (capacity %d - buffer %d - output reserve %d%s = limit %d)",
		e.What, e.Want, e.Got, e.Window.Capacity, e.Window.Buffer, e.Window.OutputReserve, input, e.Window.Limit())
}

// Share returns a share of n in permille, rounded down; of a negative n nothing. It is
// exact for every n as long as the share is at most the whole.
func Share(n, permille int) int {
	n = max(n, 0)
	return n/1000*permille + n%1000*permille/1000
}

// DefaultCapacity is what is taken for a window that nobody knows, in tokens.
const DefaultCapacity = 131_072

// reservedShare is what buffer and reserve may take of a small window together.
const reservedShare = 4 // one quarter

// small reports whether buffer and reserve that were stated for another window may be
// too much for w: it is below the default, or they leave nothing of it.
func (w Window) small() bool { return w.Capacity < DefaultCapacity || w.Limit() <= 0 }

// Scaled returns w with buffer and reserve as they are in a small window, and whether
// they changed: together they take at most a quarter of the capacity, in their ratio. It
// is for a window that they were not stated for, as a replay's is, or one that a refusal
// taught.
func (w Window) Scaled() (Window, bool) {
	most := w.Capacity / reservedShare
	both := w.Buffer + w.OutputReserve
	if w.Buffer < 0 || w.OutputReserve < 0 || w.Capacity <= 0 || w.Capacity > absurd || both > absurd || both <= most || !w.small() {
		return w, false
	}
	w.Buffer = int(uint64(w.Buffer) * uint64(most) / uint64(both))
	w.OutputReserve = most - w.Buffer
	return w, true
}

// Stated returns w as a target states it to an engine, where a buffer or reserve of 0 is
// None.
func (w Window) Stated() Window {
	if w.Buffer == 0 {
		w.Buffer = None
	}
	if w.OutputReserve == 0 {
		w.OutputReserve = None
	}
	return w
}

// ErrUnknownWindow says that nobody states a model's window.
var ErrUnknownWindow = errors.New("unknown context window")
