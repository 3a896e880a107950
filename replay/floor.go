package replay

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

// pinPrefix is how much of a pinned message's text names it to the judge.
const pinPrefix = 200

// floorStub is the one line that the judge takes an output for.
const floorStub = "[{tool} output, {bytes} bytes, stored as {ref}]"

// floor returns the irreducible floor of the machine's transcript as the judge
// recomputes it from the bytes of the raw view, in tokens with the overhead and what else
// the client sent unseen.
func (j *judge) floor(m *engine.Machine, unseen int) (int, error) {
	if j.check == nil {
		return 0, nil
	}
	body, err := encode(j.raw, j.raw.sections(), j.raw.segment.Tools, m.Messages())
	if err != nil {
		return 0, err
	}
	f, err := j.check.Floor(body, verify.FloorOptions{Counter: j.counter, Pins: pins(m), Stub: floorStub})
	if err != nil {
		return 0, fmt.Errorf("replay: judge: floor: %w", err)
	}
	return j.raw.overhead.Tokens + j.raw.overhead.Unrecorded + unseen + f.Total()*j.ratio/1000, nil
}

// pins names the pinned messages to the judge by the beginning of their text.
func pins(m *engine.Machine) []verify.Pin {
	var first, last llm.Message
	var rules []llm.Message
	for _, msg := range m.Messages() {
		if msg.Origin == llm.Human {
			if first.ID == 0 {
				first = msg
			}
			last = msg
		}
		if msg.Flags.Has(llm.FlagRules) {
			rules = append(rules, msg)
		}
	}
	if all := m.Messages(); first.ID == 0 && len(all) > 0 { // its first instruction stands for a person's
		first, last = all[0], all[0]
	}
	out := unanswered(m.Messages())
	if len(m.Sections()) == 0 {
		out = append(out, leading(m.Messages())...)
	}
	for _, pin := range m.Policy().Pins {
		switch pin {
		case policy.PinFirstHuman:
			out = append(out, pinOf(first)...)
		case policy.PinLastHuman:
			out = append(out, pinOf(last)...)
		case policy.PinRules:
			for _, msg := range rules {
				out = append(out, pinOf(msg)...)
			}
		}
	}
	return out
}

// leading names the system prompt of a format that has it among the messages.
func leading(msgs []llm.Message) []verify.Pin {
	var out []verify.Pin
	for _, msg := range msgs {
		if msg.Role != llm.RoleSystem {
			break
		}
		out = append(out, pinOf(msg)...)
	}
	return out
}

// unanswered names the messages of a person that the model has not answered yet, and
// the newest message whoever wrote it: nothing may take those out.
func unanswered(msgs []llm.Message) []verify.Pin {
	var out []verify.Pin
	for i := len(msgs) - 1; i >= 0 && msgs[i].Origin != llm.Model; i-- {
		if msgs[i].Origin == llm.Human || i == len(msgs)-1 {
			out = append(out, pinOf(msgs[i])...)
		}
	}
	return out
}

func pinOf(msg llm.Message) []verify.Pin {
	text := msg.Text()
	if len(text) > pinPrefix {
		text = strings.ToValidUTF8(text[:pinPrefix], "")
	}
	if text == "" {
		return nil
	}
	return []verify.Pin{{Prefix: text}}
}

// judgeCounter returns the judge's own counter for a family's estimator.
func judgeCounter(estimator string) (*verify.Counter, error) {
	if estimator == messagesEstimator {
		return verify.NewCounter(estimator)
	}
	name, isEncoding := strings.CutPrefix(estimator, "tiktoken:")
	if !isEncoding {
		return verify.NewCounter("pieces")
	}
	return verify.NewCounter(strings.TrimSuffix(strings.TrimSuffix(name, "_base"), "_harmony"))
}
