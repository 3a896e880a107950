package check

import "strings"

// A frame is one server-sent event.
type frame struct {
	name string // of the event field; empty if there is none
	data string // its data lines, joined by newlines
}

// frames splits a stream into its events (WHATWG HTML, "Server-sent events"). Comments are left out, and so are events without data. An event
// that the end of the stream cuts off is a fault, as clients drop it.
func frames(j *judge, stream []byte) []frame {
	var all []frame
	var f frame
	var data []string
	text := strings.TrimPrefix(string(stream), "\ufeff")
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		line = strings.TrimSuffix(line, "\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != nil {
				f.data = strings.Join(data, "\n")
				all = append(all, f)
			}
			f, data = frame{}, nil
		case field == "data":
			data = append(data, value)
		case field == "event":
			f.name = value
		}
	}
	if data != nil {
		f.data = strings.Join(data, "\n")
		all = append(all, f)
		j.add("framing", "", "stream: want a blank line after the last event, got the end")
	}
	return all
}
