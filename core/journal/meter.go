package journal

import (
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A MeterState is what the count of a target knows. Sizes are not in it, but for what
// stood before the messages then: they follow from what was shown.
type MeterState struct {
	Key         string // of the counter, in the engine's words
	Calibration token.CalibrationState
	Anchor      *Anchor  // the usage that it goes by; nil: none was reported
	Left        *Border  // where the request ended that was not answered yet; nil: there is none
	Awaited     *Awaited // the output that was reported of the reply to come; nil: none was
}

// A Border is where a prompt ended.
type Border struct {
	Messages int     `json:"messages,omitempty"` // of the transcript that came before
	Edit     edit.ID `json:"edit,omitempty"`     // the last edit that it knew
	Front    *Front  `json:"front,omitempty"`    // what stood before its messages; nil: what does now
}

// An Anchor is a prompt whose size was reported.
type Anchor struct {
	Border
	Prompt int           `json:"prompt,omitempty"`
	Output int           `json:"output,omitempty"` // of its reply; -1: it was not reported
	Doubt  int           `json:"doubt,omitempty"`  // of the prompt: what only caution put there
	Reply  llm.MessageID `json:"reply,omitempty"`  // the reply that the output stands for; 0: none
}

// A Front is the size of sections and tools, by component.
type Front struct {
	Sizes  [token.NumComponents]token.Size `json:"sizes,omitzero"`
	Hidden int                             `json:"hidden,omitempty"`
}

// An Awaited is what was reported of a reply that has not come.
type Awaited struct {
	Output    int  `json:"output,omitempty"`
	Reasoning int  `json:"reasoning,omitempty"`
	Covers    bool `json:"covers,omitempty"` // the anchor contains it
}

// meterState is a MeterState as it is written.
type meterState struct {
	Key         string                 `json:"key,omitempty"`
	Calibration token.CalibrationState `json:"calibration,omitzero"`
	Anchor      *Anchor                `json:"anchor,omitempty"`
	Left        *Border                `json:"left,omitempty"`
	Awaited     *Awaited               `json:"awaited,omitempty"`
	B64         odd                    `json:"b64,omitempty"`
}

func meterStatesOf(all []MeterState) []meterState {
	var out []meterState
	for _, s := range all {
		w := meterState{Calibration: s.Calibration, Anchor: s.Anchor, Left: s.Left, Awaited: s.Awaited}
		w.Key = w.B64.put("key", s.Key)
		out = append(out, w)
	}
	return out
}

func readMeterStates(all []meterState) []MeterState {
	var out []MeterState
	for _, w := range all {
		out = append(out, MeterState{w.B64.get("key", w.Key), w.Calibration, w.Anchor, w.Left, w.Awaited})
	}
	return out
}
