package transport_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/transport"
)

const compactInstruction = "Your task is to create a detailed summary of the conversation so far."

// TestAnsweredCompaction: where it is to be, a client's own compaction is answered here, in its
// dialect and as a stream where it wants one, and no provider is asked; else it passes.
func TestAnsweredCompaction(t *testing.T) {
	for _, d := range testagent.Dialects() {
		for _, stream := range []bool{false, true} {
			for _, answers := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s_stream_%t_answered_%t", d, stream, answers), func(t *testing.T) {
					server, url := scripted(t, "reply always\n  text \"Done by the model.\"\n")
					g, err := gateway.New(gateway.Options{AnswerCompactions: answers, Window: func(string, string) budget.Window {
						return budget.Window{Capacity: 8000, OutputReserve: 500}
					}})
					if err != nil {
						t.Fatal(err)
					}
					var reports []gateway.Report
					tr := transport.New(g)
					tr.Done = func(_ *http.Request, r gateway.Report) { reports = append(reports, r) }
					c := testagent.New(url, d, stream)
					c.HTTP = &http.Client{Transport: tr}
					c.Says("Read the numbers.")
					if err := c.Step(t.Context()); err != nil {
						t.Fatal(err)
					}
					c.Says(compactInstruction)
					if err := c.Step(t.Context()); err != nil {
						t.Fatal(err)
					}
					said := c.History[len(c.History)-1].Text()
					asked, last := len(server.Log()), reports[len(reports)-1]
					if answers && (asked != 1 || !strings.HasPrefix(said, "<summary>") || !strings.Contains(said, "Read the numbers.") || !last.Answered) {
						t.Errorf("%d calls of the provider, want 1; %+v; it says %q", asked, last, said)
					}
					if !answers && (asked != 2 || said != "Done by the model." || last.Passed == "" || last.Session != "") {
						t.Errorf("%d calls of the provider, want 2; %+v; it says %q", asked, last, said)
					}
				})
			}
		}
	}
}

// TestAnsweredCompactionAsAList: a client that asks for one list of replies gets one.
func TestAnsweredCompactionAsAList(t *testing.T) {
	g, err := gateway.New(gateway.Options{AnswerCompactions: true})
	if err != nil {
		t.Fatal(err)
	}
	tr := transport.New(g)
	kind := ""
	c := testagent.New("http://provider.invalid", "gemini", true)
	c.HTTP = &http.Client{Transport: carrier(func(req *http.Request) (*http.Response, error) {
		req.URL.RawQuery = ""
		resp, err := tr.RoundTrip(req)
		if err == nil {
			kind = resp.Header.Get("Content-Type")
		}
		return resp, err
	})}
	c.Says("Read the numbers.").Says(compactInstruction)
	body, err := c.Body()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Send(t.Context(), body)
	if err != nil || kind != "application/json" || answer[0] != '[' || c.Take(answer) != nil || !strings.HasPrefix(c.History[len(c.History)-1].Text(), "<summary>") {
		t.Errorf("got %s %s (%v)", kind, answer, err)
	}
}
