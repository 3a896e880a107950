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
	Buffer        int // tokens kept free for what the count gets wrong
	OutputReserve int // tokens kept free for the reply; reasoning is within it (R000-10)
	MaxBytes      int // of the request; 0: none known, for which the engine takes the catalogue's
	MaxImages     int // in the request; 0: as for bytes. engine.NoLimit says that there is none
}

// Limit returns what a prompt may have: the capacity less buffer and reserve
// (R000-6). It is not positive where nothing is left.
func (w Window) Limit() int { return w.Capacity - w.Buffer - w.OutputReserve }

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
	return fmt.Sprintf("budget: window: %s, want %s, got %d (capacity %d - buffer %d - output reserve %d = limit %d)",
		e.What, e.Want, e.Got, e.Window.Capacity, e.Window.Buffer, e.Window.OutputReserve, e.Window.Limit())
}

// HistoryBudget returns what is left of the limit for history, when everything
// else of used but its history and notes is in the prompt (R003-2). It may be
// negative.
func (w Window) HistoryBudget(used Components) int {
	return w.Limit() - used.System - used.Skills - used.Summary - used.Tools
}

// Share returns a share of n in permille, rounded down (R001-14, R002-3); of a negative
// n nothing. It is exact for every n as long as the share is at most the whole.
func Share(n, permille int) int {
	n = max(n, 0)
	return n/1000*permille + n%1000*permille/1000
}

// reservedShare is what buffer and reserve may take of a scaled window together.
const reservedShare = 4 // one quarter (DESIGN.md section 8)

// Scaled returns w with buffer and reserve scaled down, in their ratio, to a
// quarter of the capacity together, and whether that was needed. A replay does
// so where it is given a small window.
func (w Window) Scaled() (Window, bool) {
	most := w.Capacity / reservedShare
	both := w.Buffer + w.OutputReserve
	if w.Buffer < 0 || w.OutputReserve < 0 || w.Capacity <= 0 || w.Capacity > absurd || both > absurd || both <= most {
		return w, false
	}
	w.Buffer = int(uint64(w.Buffer) * uint64(most) / uint64(both))
	w.OutputReserve = most - w.Buffer
	return w, true
}

// ErrUnknownWindow says that nobody states a model's window (R001-13).
var ErrUnknownWindow = errors.New("unknown context window")

// The figures that the documents fall back to, in tokens.
const (
	DefaultCapacity = 131_072 // R000-8
	DefaultBuffer   = 8_192   // R000-9
	outputShare     = 4       // of the capacity is reserved where nobody states an output: a quarter (R000-7)
)

// Optional is a number that may not be stated. The zero Optional is not.
type Optional struct {
	Value int
	Set   bool
}

// Some returns a stated number.
func Some(n int) Optional { return Optional{n, true} }

// A Layer is one place where windows are configured, such as a model's or a
// provider's entry. Zero is a stated value; what is not stated is left to the
// next layer.
type Layer struct {
	Source                   string // such as "model"; shown to the user
	Capacity, Buffer, Output Optional
}

// Unknown says what counts where no layer states a capacity.
type Unknown struct {
	Capacity       Optional // R000-8: DefaultCapacity
	OutputMultiple int      // else this many times the output (R003-3: 4); 0: none
}

// A Setting is a resolved number and where it came from: the source of a layer,
// "default", or how it was derived.
type Setting struct {
	Value  int
	Source string
}

// Settings are the resolved figures of a window.
type Settings struct{ Capacity, Buffer, Output Setting }

// Window returns the window of s, without limits of bytes and images.
func (s Settings) Window() Window {
	return Window{Capacity: s.Capacity.Value, Buffer: s.Buffer.Value, OutputReserve: s.Output.Value}
}

// Resolve takes each figure from the first layer that states it (R000-8,
// R000-9). Where none does, the capacity follows u, the buffer is buffer, and
// the output is a quarter of the capacity, rounded down (R000-7). The error is
// ErrUnknownWindow.
func Resolve(layers []Layer, u Unknown, buffer int) (Settings, error) {
	s := Settings{Buffer: Setting{buffer, "default"}}
	capacity, output := Setting{}, Setting{}
	for i := len(layers) - 1; i >= 0; i-- {
		l := layers[i]
		take(&capacity, l.Capacity, l.Source)
		take(&s.Buffer, l.Buffer, l.Source)
		take(&output, l.Output, l.Source)
	}
	switch {
	case capacity.Source != "":
	case u.Capacity.Set:
		capacity = Setting{u.Capacity.Value, "default"}
	case u.OutputMultiple > 0 && output.Source != "" && output.Value <= absurd/u.OutputMultiple:
		capacity = Setting{output.Value * u.OutputMultiple, fmt.Sprintf("output x %d", u.OutputMultiple)}
	default:
		return Settings{}, fmt.Errorf("budget: resolve: %w, want it from one of %d layers, got none", ErrUnknownWindow, len(layers))
	}
	if output.Source == "" {
		output = Setting{capacity.Value / outputShare, "window/4"}
	}
	s.Capacity, s.Output = capacity, output
	return s, nil
}

// take sets s to a stated number.
func take(s *Setting, o Optional, source string) {
	if !o.Set {
		return
	}
	if source == "" {
		source = "unnamed"
	}
	*s = Setting{o.Value, source}
}
