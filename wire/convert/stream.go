package convert

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// Stream writes a whole stream in another format, event by event. It returns the reply
// that the stream tells, too.
func Stream(stream []byte, from wire.Decoder, to wire.Encoder) (reply *wire.Reply, out []byte, err error) {
	reply = new(wire.Reply)
	write := func(events []llm.Event) error {
		for _, e := range events {
			reply.Add(e)
			if e.Kind == llm.EventOther {
				continue // means something in its own format only
			}
			if out, err = to.Append(out, e); err != nil {
				return err
			}
		}
		return nil
	}
	events, err := from.Feed(stream)
	if err != nil {
		return reply, out, err
	}
	if err := write(events); err != nil {
		return reply, out, err
	}
	if events, err = from.Close(); err != nil {
		return reply, out, err
	}
	return reply, out, write(events)
}
