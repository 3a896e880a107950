package check

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// An outputItem is an item of a stream that has been added.
type outputItem struct {
	id    string
	kind  string
	done  bool
	parts map[int64]bool // content parts, and whether they are done
}

// A responseStream follows the events of one streamed response.
type responseStream struct {
	*judge
	started  bool
	ended    bool
	failed   bool // an error has come, of which response.failed may tell once more
	sequence int64
	items    map[int64]*outputItem
}

// responsesStream judges a streamed response.
func responsesStream(j *judge, stream []byte) {
	s := &responseStream{judge: j, sequence: -1, items: map[int64]*outputItem{}}
	for i, f := range frames(j, stream) {
		if f.data == "[DONE]" && s.ended { // some servers close all their streams alike
			continue
		}
		n, ok := j.parse(j.voice.index("events", i), []byte(f.data))
		if !ok {
			return
		}
		kind, _ := n.get("type").must().text()
		if f.name != "" && f.name != kind {
			n.fault("event-name", "%s: want the event's name to be its type %q, got %q", n.at, kind, f.name)
		}
		s.event(n, kind)
	}
	if !s.ended {
		j.add("stream-end", "", "stream: want response.completed, response.incomplete or response.failed at the end, got none")
	}
}

// event judges one event by what came before it.
func (s *responseStream) event(n node, kind string) {
	if s.ended && (!s.failed || kind != "response.failed") {
		n.fault("stream-end", "%s: want nothing after the end, got %s", n.at, kind)
		return
	}
	s.failed = false
	s.sequenced(n)
	if kind == "error" {
		s.ended, s.failed = true, true
		return
	}
	if !s.started && kind != "response.created" && strings.HasPrefix(kind, "response.") {
		n.fault("stream-order", "%s: want response.created first, got %s", n.at, kind)
	}
	switch kind {
	case "response.created":
		if s.started {
			n.fault("stream-order", "%s: want one response.created, got another", n.at)
		}
		n.get("response").record().get("id").must().text()
	case "response.completed", "response.incomplete", "response.failed":
		s.end(n, kind)
	case "response.output_item.added":
		s.added(n)
	case "response.output_item.done":
		s.done(n)
	case "response.content_part.added", "response.content_part.done":
		s.part(n, kind == "response.content_part.done")
	default:
		s.inside(n, kind)
	}
	s.started = true
}

// sequenced judges the number of an event, where it has one.
func (s *responseStream) sequenced(n node) {
	got, ok := n.get("sequence_number").whole()
	if !ok {
		return
	}
	if got <= s.sequence {
		n.fault("sequence", "%s.sequence_number: want more than %d, got %d", n.at, s.sequence, got)
	}
	s.sequence = got
}

func (s *responseStream) end(n node, kind string) {
	s.ended = true
	r := n.get("response").record()
	r.get("id").must().text()
	if status := r.get("status").say(); status != strings.TrimPrefix(kind, "response.") {
		r.fault("stream-end", "%s.status: want the status of %s, got %q", r.at, kind, status)
	}
	responsesUsage(r.get("usage"))
	if kind != "response.completed" {
		return
	}
	for _, item := range s.open() {
		n.fault("item-open", "%s: want output_item.done for item %q before the end", n.at, item.id)
	}
}

// open returns the items that are not done.
func (s *responseStream) open() []*outputItem {
	var open []*outputItem
	for _, item := range s.items {
		if !item.done {
			open = append(open, item)
		}
	}
	slices.SortFunc(open, func(a, b *outputItem) int { return cmp.Compare(a.id, b.id) })
	return open
}

func (s *responseStream) added(n node) {
	index, ok := n.get("output_index").must().whole()
	if !ok {
		return
	}
	if s.items[index] != nil {
		n.fault("item-open", "%s: want one output_item.added for output_index %d, got another", n.at, index)
	}
	item := n.get("item").record()
	kind, _ := item.get("type").must().text()
	s.items[index] = &outputItem{id: item.get("id").say(), kind: kind, parts: map[int64]bool{}}
}

// at finds the open item that an event belongs to.
func (s *responseStream) at(n node) *outputItem {
	index, ok := n.get("output_index").must().whole()
	if !ok {
		return nil
	}
	item := s.items[index]
	if item == nil || item.done {
		n.fault("item-open", "%s: want an open item at output_index %d, got none", n.at, index)
		return nil
	}
	return item
}

func (s *responseStream) done(n node) {
	item := s.at(n)
	if item == nil {
		return
	}
	item.done = true
	for _, index := range slices.Sorted(maps.Keys(item.parts)) {
		if !item.parts[index] {
			n.fault("item-open", "%s: want content_part.done for part %d before the item is done", n.at, index)
		}
	}
	whole := n.get("item").record()
	if kind, ok := whole.get("type").must().text(); ok && kind != item.kind {
		whole.fault("item-id", "%s.type: want %q as it was added, got %q", whole.at, item.kind, kind)
	}
	if id := whole.get("id").say(); id != item.id {
		whole.fault("item-id", "%s.id: want %q as it was added, got %q", whole.at, item.id, id)
	}
	responsesOutput(whole)
}

func (s *responseStream) part(n node, done bool) {
	item := s.inside(n, "response.content_part")
	index, ok := n.get("content_index").must().whole()
	if item == nil || !ok {
		return
	}
	before, known := item.parts[index]
	if done && (!known || before) || !done && known {
		n.fault("item-open", "%s: want content parts added once and done once, got part %d out of order", n.at, index)
	}
	item.parts[index] = done
	n.get("part").record().get("type").must().text()
}

// inside judges an event of an item: it names one that is open. Events that name none are not judged.
func (s *responseStream) inside(n node, kind string) *outputItem {
	if !n.get("output_index").has() {
		return nil
	}
	item := s.at(n)
	if item == nil {
		return nil
	}
	if id, ok := n.get("item_id").text(); ok && id != item.id {
		n.fault("item-id", "%s.item_id: want %q as the item was added, got %q", n.at, item.id, id)
	}
	if strings.HasSuffix(kind, ".delta") {
		n.get("delta").must()
	}
	return item
}
