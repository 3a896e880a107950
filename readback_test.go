package plimsoll_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

const (
	facts      = 12     // each stands in one output, and nowhere else
	readLimit  = 8_000  // tokens of a request
	readBytes  = 12_500 // of a report
	mostAsked  = 150    // requests of a task
	readSeeds  = 10
	readAbout  = "Read report-1 to report-%d, one after the other."
	askedAbout = "Give the codes of %s."
)

// TestReadBack: a model that is asked, after it has read more than its window holds, for what
// stood in outputs alone, answers all of it with the tools of its policy, and does not without.
// It goes by nothing but the bytes of each request.
func TestReadBack(t *testing.T) {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var worlds []world
	for seed := range uint64(readSeeds) {
		worlds = append(worlds, newWorld(seed))
	}
	for _, way := range []struct{ policy, tool, id string }{
		{"guard", policy.ToolOutput, "R000-21"},
		{"cache-compact", policy.ToolOutputCacheGrep, "R001-8"},
		{"cache-compact", policy.ToolOutputCache, "R001-7"},
		{"layered", policy.ToolReadResult, "R002-7"},
		{"balanced", policy.ToolSearchContext, "law2"},
		{"guard", "", "R000-21"},
		{"cache-compact", "", "R001-7"},
		{"layered", "", "R002-7"},
		{"balanced", "", "law2"},
	} {
		for _, codec := range codecs.All() {
			t.Run(fmt.Sprintf("%s_%s_%s_%s", way.id, way.policy, cmp.Or(way.tool, "without"), codec.Dialect()), func(t *testing.T) {
				t.Parallel()
				for seed, w := range worlds {
					m := &reader{codec: codec, tool: way.tool}
					o := plimsoll.Options{Policy: preset(t, way.policy), WithoutTools: way.tool == "", Catalog: &known}
					switch right := w.run(t, m, o); {
					case way.tool != "" && right < facts:
						t.Errorf("seed %d: want all %d facts, got %d after %d requests: %s", seed, facts, right, m.asked, m.last)
					case way.tool == "" && right > facts/4:
						t.Errorf("seed %d: want few facts without the tools, got %d", seed, right)
					}
				}
			})
		}
	}
}

// A world is what can be found out, drawn by a seed.
type world struct {
	reports []string
	codes   map[string]string // by the name of what they are of
	names   []string          // of codes, in the order of the question
}

func newWorld(seed uint64) world {
	r := rand.New(rand.NewPCG(seed, 14))
	w := world{codes: map[string]string{}}
	words := strings.Fields("calm water light wind from the west under low cloud past Alder Birch Cedar no ship seen all lamps lit")
	for range facts {
		name := fmt.Sprintf("sensor-%d", 1000+r.IntN(9000))
		for w.codes[name] != "" {
			name = fmt.Sprintf("sensor-%d", 1000+r.IntN(9000))
		}
		w.codes[name] = fmt.Sprint(10_000_000 + r.IntN(90_000_000))
		w.names = append(w.names, name)
		var b strings.Builder
		// Neither the beginning nor the end, which previews show.
		for at, told := readBytes/4+r.IntN(readBytes/2), false; b.Len() < readBytes; {
			if b.Len() >= at && !told {
				fmt.Fprintf(&b, "the code of %s is %s\n", name, w.codes[name])
				told = true
			}
			for range 12 {
				b.WriteString(words[r.IntN(len(words))] + " ")
			}
			fmt.Fprintf(&b, "at mile %d\n", r.IntN(1000))
		}
		w.reports = append(w.reports, b.String())
	}
	r.Shuffle(facts, func(i, j int) { w.names[i], w.names[j] = w.names[j], w.names[i] })
	return w
}

// run has a model read all reports, asks for the codes, and returns how many it gives.
func (w world) run(t *testing.T, m *reader, o plimsoll.Options) (right int) {
	t.Helper()
	o.Targets = []budget.Target{windowOf("mystery", readLimit)}
	s := open(t, o)
	tools := []llm.Tool{{Name: "read", Description: "Reads a report.", Schema: `{"type":"object","properties":{"n":{"type":"integer"}}}`}}
	if err := s.SetTools(t.Context(), tools); err != nil {
		t.Fatal(err)
	}
	w.turn(t, s, m, fmt.Sprintf(readAbout, facts))
	answer := w.turn(t, s, m, fmt.Sprintf(askedAbout, strings.Join(w.names, ", ")))
	for name, code := range w.codes {
		if strings.Contains(answer, name+"="+code) {
			right++
		}
	}
	return right
}

// turn is the loop of a host.
func (w world) turn(t *testing.T, s *plimsoll.Session, m *reader, text string) (answer string) {
	t.Helper()
	add(t, s, human(text))
	for m.asked < mostAsked {
		send := prepare(t, s)
		if send.Limit != readLimit || send.Count.Bound > readLimit {
			t.Fatalf("want a request within %d tokens, got %d of %d", readLimit, send.Count.Bound, send.Limit)
		}
		body, err := codecs.Body(send.Request(), m.codec.Dialect())
		if err != nil {
			t.Fatal(err)
		}
		reply, err := body.Reply(m.reply(t, body.JSON))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Reply(t.Context(), reply); err != nil {
			t.Fatal(err)
		}
		for _, c := range reply.Message.Calls() {
			if served, err := s.Builtin(t.Context(), c); err != nil {
				t.Fatal(err)
			} else if served {
				continue
			}
			var args struct{ N int }
			if err := json.Unmarshal([]byte(c.Args), &args); err != nil || args.N < 1 || args.N > facts {
				t.Fatalf("call %s %s: %v", c.Name, c.Args, err)
			}
			result(t, s, c.CallID, w.reports[args.N-1])
		}
		if len(reply.Message.Calls()) == 0 {
			if err := s.TurnEnd(t.Context()); err != nil {
				t.Fatal(err)
			}
			return reply.Message.Text()
		}
	}
	return m.last
}

// A reader is a model without memory: what it says follows from the body of one request. What
// it wants to know later it writes into its replies, as models do.
type reader struct {
	codec codecs.Full
	tool  string // that it reads back with; empty: none is offered
	asked int
	last  string // what it said
}

// reply answers a body.
func (m *reader) reply(t *testing.T, body []byte) string {
	t.Helper()
	request, err := m.codec.DecodeRequest(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range builtin.Names() {
		if m.tool == "" && strings.Contains(string(body), name) {
			t.Fatalf("%s is not offered, and named: %s", name, body)
		}
	}
	m.asked++
	say := m.think(request)
	m.last = say.Text()
	stop := llm.StopEnd
	if len(say.Calls()) > 0 {
		stop = llm.StopTool
	}
	text, err := m.codec.EncodeResponse(llm.Response{
		ID: fmt.Sprint("r", m.asked), Model: "mystery", Message: say, Stop: stop, Usage: llm.Usage{Input: len(body) / 4, Output: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// call makes the one call of a reply, with what is said beside it.
func (m *reader) call(text, name string, args map[string]any) llm.Message {
	written, _ := json.Marshal(args) // of texts and numbers
	return llm.AssistantText(text, llm.ToolCall{CallID: fmt.Sprint("call_", m.asked), Name: name, Args: string(written)})
}

var (
	aCode  = regexp.MustCompile(`the code of (sensor-\d+) is (\d{8})\b`)
	aNote  = regexp.MustCompile(`(sensor-\d+)=(\d{8})\b`)
	aName  = regexp.MustCompile(`sensor-\d+`)
	aRef   = regexp.MustCompile(`\br[a-z2-7]{26}\b`)
	aPlace = regexp.MustCompile(`Go on with offset=(\d+)`)
)

// think decides what to say: first the reports are read, then what is wanted is looked for.
func (m *reader) think(r llm.Request) llm.Message {
	asked, said := "", ""
	for _, one := range r.Messages {
		switch text := one.Text(); {
		case one.Role == llm.RoleAssistant && text != "":
			said = text
		case one.Role == llm.RoleUser && strings.HasPrefix(text, "Give the codes"):
			asked = text
		}
	}
	if n := notesOf(said, asked); len(n.wanted) > 0 {
		return m.look(r, n)
	}
	n := 0
	_, _ = fmt.Sscanf(said, "I read report-%d.", &n)
	if n == facts {
		return llm.AssistantText("I have read them.")
	}
	return m.call(fmt.Sprintf("I read report-%d.", n+1), "read", map[string]any{"n": n + 1})
}

// Notes are what the model wants to know later.
type notes struct {
	known  map[string]string
	wanted []string // names, also of what is known
	places []string // where to look: refs, or names to search for
	at     int      // the one that was looked into last; -1: none was
}

// notesOf reads the notes in what was said last; where there are none yet, what is asked.
func notesOf(said, asked string) notes {
	n := notes{known: map[string]string{}, at: -1}
	text, places, noted := strings.Cut(said, " Places: ")
	if !noted {
		n.wanted = aName.FindAllString(asked, -1)
		return n
	}
	n.wanted = aName.FindAllString(text, -1)
	for _, found := range aNote.FindAllStringSubmatch(text, -1) {
		n.known[found[1]] = found[2]
	}
	for i, place := range strings.Fields(places) {
		if strings.HasPrefix(place, "*") {
			n.at = i
		}
		n.places = append(n.places, strings.TrimPrefix(place, "*"))
	}
	return n
}

// String writes the notes.
func (n notes) String() string {
	var b strings.Builder
	for _, name := range n.wanted {
		b.WriteString(name)
		if code := n.known[name]; code != "" {
			b.WriteString("=" + code)
		}
		b.WriteByte(' ')
	}
	b.WriteString(" Places:")
	for i, place := range n.places {
		b.WriteByte(' ')
		if i == n.at {
			b.WriteByte('*')
		}
		b.WriteString(place)
	}
	return b.String()
}

// look notes what is seen, and makes the next call for what is not.
func (m *reader) look(r llm.Request, n notes) llm.Message {
	for _, found := range aCode.FindAllStringSubmatch(everything(r), -1) {
		n.known[found[1]] = found[2]
	}
	missing := slices.DeleteFunc(slices.Clone(n.wanted), func(name string) bool { return n.known[name] != "" })
	if len(missing) == 0 || m.tool == "" {
		return llm.AssistantText(n.String())
	}
	if m.tool == policy.ToolSearchContext {
		return m.search(n, missing)
	}
	return m.read(r, n, missing)
}

// read reads on in the place that was read in last, or in the next one.
func (m *reader) read(r llm.Request, n notes, missing []string) llm.Message {
	page := aPlace.FindStringSubmatch(newestOutput(r))
	if n.at < 0 || page == nil {
		n.at++
		page = []string{"", "0"}
	}
	if n.at == len(n.places) { // all that was planned is done
		for _, ref := range aRef.FindAllString(everything(r), -1) {
			if !slices.Contains(n.places, ref) {
				n.places = append(n.places, ref)
			}
		}
	}
	if n.at == len(n.places) {
		return llm.AssistantText(n.String())
	}
	ref := n.places[n.at]
	args := map[string]any{"ref_id": ref, "offset": page[1]}
	switch m.tool {
	case policy.ToolReadResult:
		at, _ := strconv.Atoi(page[1])
		args["offset"] = max(0, at-len("the code of sensor-1234 is 12345678")) // what a page cuts in two stands in the next one
	case policy.ToolOutputCacheGrep:
		args = map[string]any{"ref_id": ref, "pattern": strings.Join(missing, "|"), "regex": true}
	case policy.ToolOutput:
		args = map[string]any{"handle": ref, "extract": "the code of " + strings.Join(missing, ", ")}
	}
	return m.call(n.String(), m.tool, args)
}

// search looks for the next name that was not searched for.
func (m *reader) search(n notes, missing []string) llm.Message {
	for _, name := range missing {
		if !slices.Contains(n.places, name) {
			n.places = append(n.places, name)
			return m.call(n.String(), m.tool, map[string]any{"query": "the code of " + name})
		}
	}
	return llm.AssistantText(n.String())
}

// everything returns all texts of a request but those of the system.
func everything(r llm.Request) string {
	var b strings.Builder
	for _, one := range r.Messages {
		b.WriteString(one.Text() + "\n")
		for _, result := range one.Results() {
			b.WriteString(result.Text() + "\n")
		}
	}
	return b.String()
}

// newestOutput returns the newest output.
func newestOutput(r llm.Request) (text string) {
	for _, one := range r.Messages {
		for _, result := range one.Results() {
			text = result.Text()
		}
	}
	return text
}
