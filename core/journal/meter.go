package journal

import "github.com/plimsoll-dev/plimsoll/core/meter"

// A MeterState is what the count of a target knows.
type MeterState struct {
	Key string // of the counter, in the engine's words
	meter.State
}

// meterState is a MeterState as it is written.
type meterState struct {
	Key string `json:"key,omitempty"`
	meter.State
	B64 odd `json:"b64,omitempty"`
}

func meterStatesOf(all []MeterState) []meterState {
	var out []meterState
	for _, s := range all {
		w := meterState{State: s.State}
		w.Key = w.B64.put("key", s.Key)
		out = append(out, w)
	}
	return out
}

func readMeterStates(all []meterState) []MeterState {
	var out []MeterState
	for _, w := range all {
		out = append(out, MeterState{w.B64.get("key", w.Key), w.State})
	}
	return out
}
