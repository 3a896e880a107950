package clienttest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
)

// The logs: each has about 4,000 tokens and one fact, in one of its middle lines.
const (
	logLines  = 168 // of 80 bytes: more than the 12,288 that guard leaves in its view
	lineBytes = 80
	factLine  = 80 // the first that it may stand in; the last is 7 lines on
	readTask  = "Here are the logs of 12 ships: alder, birch, cedar, elm, fir, hazel, larch, maple, oak, pine, rowan and willow. " +
		"Read NAME.txt of each with your shell tool, one after the other, then say how high each mast is. A log has it in one of its lines 80 to 90."
	reportsOn = "What I have:\n"
)

// ships returns the names of the ships, in the order in which their logs are read.
func ships() []string {
	return strings.Fields("alder birch cedar elm fir hazel larch maple oak pine rowan willow")
}

// writeLogs writes the logs into a folder and returns the heights of the masts.
func writeLogs(t *testing.T, dir string, seed uint64) map[string]string {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	heights := map[string]string{}
	for _, ship := range ships() {
		at := factLine + random.IntN(8)
		heights[ship] = strconv.Itoa(1000 + random.IntN(9000))
		var b strings.Builder
		for n := range logLines {
			line := fmt.Sprintf("entry %d: nothing new, wind %d knots westerly, %d on deck", n, random.IntN(40), random.IntN(90))
			if n == at {
				line = fmt.Sprintf("the mast of the %s is %s cm high", ship, heights[ship])
			}
			fmt.Fprintf(&b, "%-*s\n", lineBytes-1, line)
		}
		write(t, filepath.Join(dir, ship+".txt"), b.String())
	}
	return heights
}

var (
	factIn = regexp.MustCompile(`the mast of the (\w+) is (\d+) cm high`)
	saidIn = regexp.MustCompile(`- (\w+): (\d+) cm`)
	logIn  = regexp.MustCompile(`(\w+)\.txt`)
	shipIn = regexp.MustCompile(`mast of the (\w+)`)
	refIn  = regexp.MustCompile(`r[a-z2-7]{26}`)
)

// ownTools are the tools that the model reads on with.
func ownTools() []string {
	return []string{policy.ToolOutputCache, policy.ToolOutputCacheGrep, policy.ToolReadResult, policy.ToolOutput, policy.ToolSearchContext}
}

// A sight is what a model sees of the task in a request.
type sight struct {
	offered map[string]bool // of ownTools
	read    int             // how many logs it has read
	reports bool            // it has begun to say what they have
	facts   map[string]string
	refs    map[string]string // of the logs that it does not see whole
	looked  map[string]int    // how often it has read on
}

// see reads a request.
func see(r llm.Request) sight {
	s := sight{offered: map[string]bool{}, facts: map[string]string{}, refs: map[string]string{}, looked: map[string]int{}}
	for _, t := range r.Tools {
		if slices.Contains(ownTools(), t.Name) {
			s.offered[t.Name] = true
		}
	}
	of := map[string]string{} // the log that a call reads
	for _, m := range r.Messages {
		if text := m.Text(); m.Role == llm.RoleAssistant && strings.Contains(text, reportsOn) {
			s.reports = true
			maps.Copy(s.facts, facts(saidIn, text))
		}
		for _, c := range m.Calls() {
			if log := logIn.FindStringSubmatch(c.Args); log != nil {
				of[c.CallID] = log[1]
				s.read = max(s.read, 1+slices.Index(ships(), log[1]))
			}
			if slices.Contains(ownTools(), c.Name) {
				s.looked[s.shipOf(c.Args)]++
			}
		}
		for _, result := range m.Results() {
			text := result.Text()
			maps.Copy(s.facts, facts(factIn, text))
			if ship := of[result.CallID]; ship != "" && refIn.MatchString(text) {
				s.refs[ship] = refIn.FindString(text)
			}
		}
	}
	return s
}

// facts returns what a text says of ships; of two that differ, the last.
func facts(in *regexp.Regexp, text string) map[string]string {
	found := map[string]string{}
	for _, f := range in.FindAllStringSubmatch(text, -1) {
		found[f[1]] = f[2]
	}
	return found
}

// shipOf returns the ship that a call of ownTools is about.
func (s sight) shipOf(args string) string {
	if ship := shipIn.FindStringSubmatch(args); ship != nil {
		return ship[1]
	}
	for ship, ref := range s.refs {
		if strings.Contains(args, ref) {
			return ship
		}
	}
	return ""
}

// readOn returns a call that finds the height of a mast; false: there is no way.
func (s sight) readOn(ship string) (scriptmodel.Saying, bool) {
	ref := s.refs[ship]
	call := func(name, args string, values ...any) (scriptmodel.Saying, bool) {
		return scriptmodel.Saying{Kind: scriptmodel.SayCall, Name: name, Text: fmt.Sprintf(args, values...)}, true
	}
	switch {
	case ref != "" && s.offered[policy.ToolOutputCacheGrep]:
		return call(policy.ToolOutputCacheGrep, `{"ref_id":%q,"pattern":"mast of the %s"}`, ref, ship)
	case ref != "" && s.offered[policy.ToolOutput]:
		return call(policy.ToolOutput, `{"handle":%q,"extract":"the height of the mast of the %s"}`, ref, ship)
	case ref != "" && s.offered[policy.ToolOutputCache]:
		return call(policy.ToolOutputCache, `{"ref_id":%q,"offset":%d,"limit":16}`, ref, factLine)
	case ref != "" && s.offered[policy.ToolReadResult]:
		return call(policy.ToolReadResult, `{"ref_id":%q,"offset":%d,"limit":%d}`, ref, factLine*lineBytes, 12*lineBytes)
	case s.offered[policy.ToolSearchContext]:
		return call(policy.ToolSearchContext, `{"query":"mast of the %s"}`, ship)
	}
	return scriptmodel.Saying{}, false
}

// think is a model that knows only what it is sent: it reads the logs with the client's
// shell, one after the other, then says what each has. Of a log that it does not see any more
// it reads on with a tool that it is offered, three in one reply, or says that it does not
// know. What it has found it says again with each reply, lest it leave its window.
func think(r llm.Request) scriptmodel.Reply {
	s := see(r)
	reply := scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayThinking, Text: fmt.Sprintf("%d logs, %d masts.", s.read, len(s.facts))}}}
	if s.read < len(ships()) && !s.reports {
		reply.Parts = append(reply.Parts, scriptmodel.Saying{Kind: scriptmodel.SayShell, Text: "cat " + ships()[s.read] + ".txt"})
		return reply
	}
	report := reportsOn
	var calls []scriptmodel.Saying
	for _, ship := range ships() {
		if high, ok := s.facts[ship]; ok {
			report += fmt.Sprintf("- %s: %s cm\n", ship, high)
		} else if call, ok := s.readOn(ship); ok && s.looked[ship] < 2 && len(calls) < 3 {
			calls = append(calls, call)
		}
	}
	if len(calls) == 0 {
		report += lastWords
	}
	reply.Parts = append(reply.Parts, scriptmodel.Saying{Kind: scriptmodel.SayText, Text: report})
	reply.Parts = append(reply.Parts, calls...)
	return reply
}
