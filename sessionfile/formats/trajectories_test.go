package formats

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// folders of the scenarios of trajectories and logs.
var trajectoryFolders = []string{"aider", "inspect", "openhands", "sweagent", "taubench"}

// requestOf returns the last request of a segment, or what it would be.
func requestOf(s *sessionfile.Session, segment sessionfile.Segment) llm.Request {
	end := len(segment.Entries)
	for i, e := range segment.Entries {
		if e.Step != nil {
			end = i
		}
	}
	r := llm.Request{Dialect: s.Dialect, Model: "test-model", Sections: segment.Sections, Tools: segment.Tools}
	for _, e := range segment.Entries[:end] {
		r.Messages = append(r.Messages, e.Message)
	}
	return r
}

// checkRequests encodes the last request of every segment in the session's own
// dialect and returns the rules that the provider would find broken.
func checkRequests(t *testing.T, s *sessionfile.Session) []string {
	t.Helper()
	codec, ok := codecs.For(s.Dialect)
	if !ok {
		t.Fatalf("%s: no codec for the dialect %q", s.Path, s.Dialect)
	}
	var broken []string
	for i, segment := range s.Segments {
		r := requestOf(s, segment)
		if len(r.Messages) == 0 {
			continue
		}
		body, err := codec.EncodeRequest(r)
		if err != nil {
			t.Errorf("segment %d: %v", i, err)
			continue
		}
		for _, fault := range check.Request(s.Dialect, body) {
			broken = append(broken, fmt.Sprintf("segment %d: %s %s: %s", i, fault.Rule, fault.Path, fault.Message))
		}
	}
	return broken
}

// TestTrajectoryRequests: what is read can be sent in the dialect of the session.
func TestTrajectoryRequests(t *testing.T) {
	for _, folder := range trajectoryFolders {
		paths, err := filepath.Glob("testdata/" + folder + "/*.txt")
		if err != nil || len(paths) == 0 {
			t.Fatalf("no scenarios of %s: %v", folder, err)
		}
		for _, path := range paths {
			t.Run(folder+"/"+filepath.Base(path), func(t *testing.T) {
				archive, err := txtar.ParseFile(path)
				if err != nil {
					t.Fatal(err)
				}
				s, err := Read("file", bytes.NewReader(archive.Files[0].Data))
				if err != nil {
					t.Skip("the scenario is of a file that is no session:", err)
				}
				if broken := checkRequests(t, s); len(broken) > 0 {
					t.Errorf("broken rules:\n%s", strings.Join(broken, "\n"))
				}
			})
		}
	}
}

// A total is what was read of a session.
type total struct{ segments, messages, calls, steps, reported int }

func totalOf(s *sessionfile.Session) total {
	n := total{segments: len(s.Segments)}
	for _, segment := range s.Segments {
		n.messages += len(segment.Sections) + len(segment.Entries)
		n.steps += segment.Steps()
		for _, e := range segment.Entries {
			n.calls += len(e.Message.Calls())
			if e.Step != nil && e.Step.Reported {
				n.reported++
			}
		}
	}
	return n
}

// A corpusTrajectory is a file of the corpus and what has to be read of it.
type corpusTrajectory struct {
	file     string
	format   sessionfile.Format
	want     total
	indexed  bool // the index counts the same things
	problems []string
}

func corpusTrajectories() []corpusTrajectory {
	return []corpusTrajectory{
		{"github_issue.traj.json", sessionfile.FormatMiniSWEAgent, total{1, 22, 0, 10, 0}, true, nil},
		{
			"code__marshmallow-1867__function_calling_replace_from_source-marshmallow-code__marshmallow-1867.traj",
			sessionfile.FormatSWEAgent,
			total{1, 28, 13, 13, 0},
			true,
			[]string{"8 messages were sent shortened"},
		},
		{
			"ult__t-0.20__p-0.95__c-2.00__install-1___install_from_source-marshmallow-code__marshmallow-1867.traj",
			sessionfile.FormatSWEAgent,
			total{1, 29, 0, 14, 0},
			true, nil,
		},
		{"gpt-4o-airline.every4th-from0.json", sessionfile.FormatTauBench, total{50, 1306, 296, 603, 0}, true, nil},
		{"2025-05-12T20-27-36-04-00_browser.json", sessionfile.FormatInspect, total{1, 10, 4, 5, 5}, true, nil},
		{"log_images_tc.json", sessionfile.FormatInspect, total{1, 3, 0, 1, 1}, true, nil},
		{"basic_gui_mode.json", sessionfile.FormatOpenHands, total{1, 10, 4, 5, 4}, false, nil},
		{"output.jsonl", sessionfile.FormatOpenHands, total{2, 52, 0, 26, 0}, false, nil},
		{"chat-history.part1.md", sessionfile.FormatAider, total{}, false, slices.Repeat([]string{"answers something that is not in the file"}, 3)},
	}
}

// TestCorpusTrajectories reads the trajectories and logs of the corpus. Messages and
// calls are those of the index where it counts them; it counts the system prompt as a
// message, and an action without function calling as a call. Of OpenHands it counts
// events, of aider lines of the user.
func TestCorpusTrajectories(t *testing.T) {
	root := corpus(t)
	rows := index(t, root)
	tests := corpusTrajectories()
	paths := map[string]string{}
	for _, path := range files(t, root, "aider", "inspect-ai", "mini-swe-agent", "openhands", "swe-agent", "tau-bench") {
		paths[filepath.Base(path)] = path
	}
	if len(paths) != len(tests) {
		t.Errorf("%d files, want %d", len(paths), len(tests))
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			path := paths[test.file]
			s, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			checkSession(t, s)
			checkStream(t, path)
			got := totalOf(s)
			if s.Format != test.format || test.want != (total{}) && got != test.want {
				t.Errorf("want %s with %+v, got %s with %+v", test.format, test.want, s.Format, got)
			}
			name, _ := filepath.Rel(root, path)
			row, ok := rows[filepath.ToSlash(name)]
			if test.indexed && (!ok || row.messages != got.messages || row.calls >= 0 && row.calls != got.calls && row.calls != got.steps) {
				t.Errorf("messages and calls differ from the index: want %+v, got %+v", row, got)
			}
			if len(s.Problems) != len(test.problems) {
				t.Fatalf("want %d problems, got %v", len(test.problems), s.Problems)
			}
			for i, p := range s.Problems {
				if !strings.Contains(p.What, test.problems[i]) {
					t.Errorf("problem %d: want %q, got %v", i, test.problems[i], p)
				}
			}
			if broken := checkRequests(t, s); len(broken) > 0 {
				t.Errorf("broken rules:\n%s", strings.Join(broken, "\n"))
			}
		})
	}
}

// TestCorpusAider: each chat with a message is a segment of its own, and each count of
// tokens that aider wrote is that of one reply, so that their sums are equal.
func TestCorpusAider(t *testing.T) {
	path := files(t, corpus(t), "aider")[0]
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got, want aiderSums
	names := map[string]bool{}
	for _, segment := range s.Segments {
		names[segment.Name] = true
		for _, e := range segment.Entries {
			if e.Step != nil && e.Step.ClientCount {
				got.add(e.Step.Usage.Prompt(), e.Step.Usage.Output)
				if e.Step.Reported || e.Step.Model == "" {
					t.Errorf("line %d: want a model, and figures that are not reported: %+v", e.Line, e.Step)
				}
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^> Tokens: ([0-9,]+) sent, ([0-9,]+) received`).FindAllStringSubmatch(string(text), -1) {
		want.add(number(t, m[1]), number(t, m[2]))
	}
	if got != want {
		t.Errorf("what aider counted: want %+v, got %+v", want, got)
	}
	if chats := bytes.Count(text, []byte("\n"+"# aider chat started at ")); len(names) > chats+bytes.Count(text, []byte("\n#### /clear")) {
		t.Errorf("%d names of %d chats", len(names), chats)
	}
}

// aiderSums are the sums of the counts of a history.
type aiderSums struct{ calls, sent, received int }

func (a *aiderSums) add(sent, received int) {
	a.calls++
	a.sent += sent
	a.received += received
}

// number reads a number with commas.
func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCorpusGeminiBodies reads the request bodies of Gemini, whose model is in the
// address.
func TestCorpusGeminiBodies(t *testing.T) {
	for _, path := range files(t, corpus(t), "request-bodies-gemini") {
		s, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		checkSession(t, s)
		if s.Format != sessionfile.FormatGeminiRequest || len(s.Segments) != 1 || !s.Segments[0].Final || len(s.Segments[0].Entries) < 3 || len(s.Problems) > 0 {
			t.Errorf("%s: want one final segment without problems, got %s, %d segments, %v", path, s.Format, len(s.Segments), s.Problems)
		}
	}
}

// TestMessagesOfOthers: a list of messages without the blocks of mini-swe-agent is some
// other program's.
func TestMessagesOfOthers(t *testing.T) {
	for _, text := range []string{
		`[{"role":"system","content":"x"},{"role":"user","content":"y"},{"role":"assistant","content":"z"}]`,
		`[{"role":"system","content":"x"},{"role":"user","content":"y"}]`,
		`[{"role":"system","content":"x"},{"role":"user","content":"y"},{"role":"assistant","content":"\u0060\u0060\u0060","id":1}]`,
		`{"messages":[],"info":{}}`, `{"trajectory":[],"history":[]}`, `{"trajectory":[{"id":1}]}`, `[{"task_id":1,"traj":[]}]`,
		`{"version":2,"eval":{"task":"t","model":"m","run_id":"r"}}`, "# aider chat\n",
	} {
		_, err := Read("file", strings.NewReader(text))
		if unknown := (*sessionfile.FormatError)(nil); !errors.As(err, &unknown) {
			t.Errorf("%s: want a sessionfile.FormatError, got %v", text, err)
		}
	}
}

// An evalEntry is an entry of an archive that a test makes.
type evalEntry struct {
	name, text string
	method     uint16
}

const (
	evalHead   = `{"version":2,"status":"success","eval":{"eval_id":"ev-1","run_id":"r","task_id":"t","task":"tides","model":"openai/gpt-x","config":{"epochs":2},"packages":{"inspect_ai":"0.3.200"}}}`
	evalSample = `{"id":%s,"epoch":%d,"messages":[{"id":"a","role":"user","source":"input","content":"When is high tide?"},{"id":"b","role":"assistant","source":"generate","content":%q}]}`
)

func evalOf(t testing.TB, entries ...evalEntry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err == nil {
			_, err = f.Write([]byte(e.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sampleText(id string, epoch int, reply string) string {
	return fmt.Sprintf(evalSample, id, epoch, reply)
}

// TestEval reads archives: by epoch and id, each method of compression, the last of
// entries with one name, with damaged ones as problems.
func TestEval(t *testing.T) {
	archive := evalOf(t,
		evalEntry{"samples/10_epoch_1.json", sampleText("10", 1, "at ten"), zip.Deflate},
		evalEntry{"samples/9_epoch_2.json", sampleText("9", 2, "nine again"), zip.Store},
		evalEntry{"samples/9_epoch_1.json", sampleText("9", 1, "never mind"), zip.Store},
		evalEntry{"samples/9_epoch_1.json", sampleText("9", 1, "at nine"), zstd.ZipMethodWinZip},
		evalEntry{"samples/buoy_epoch_1.json", sampleText(`"buoy"`, 1, "never"), zip.Deflate},
		evalEntry{"samples/cut_epoch_1.json", `{"id":"cut","messages":[`, zip.Deflate},
		evalEntry{"samples/none_epoch_1.json", `{"id":"none"}`, zip.Deflate},
		evalEntry{"samples/long_epoch_1/sample.json", `{}`, zip.Deflate},
		evalEntry{"samples/long_epoch_1/messages/0.json", `[]`, zip.Deflate},
		evalEntry{"../../samples/etc_epoch_1.json", sampleText("1", 1, "outside"), zip.Deflate},
		evalEntry{"summaries.json", `[]`, zip.Deflate},
		evalEntry{"header.json", evalHead, zip.Deflate},
	)
	s, err := Read("tides.eval", bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	checkSession(t, s)
	if s.Format != sessionfile.FormatInspect || s.ID != "ev-1" || s.ClientVersion != "0.3.200" {
		t.Errorf("got %s %s by %s", s.Format, s.ID, s.ClientVersion)
	}
	var got []string
	for _, segment := range s.Segments {
		reply := segment.NotRun
		if len(segment.Entries) > 0 {
			reply = segment.Entries[len(segment.Entries)-1].Message.Text()
		}
		got = append(got, segment.Name+": "+reply)
	}
	want := []string{
		"sample 9, epoch 1: at nine", "sample 10, epoch 1: at ten", "sample buoy, epoch 1: never",
		"sample long: the sample is stored in pieces, which are not read", "sample 9, epoch 2: nine again",
	}
	if !slices.Equal(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
	if len(s.Problems) != 2 {
		t.Errorf("want the cut sample and the one without messages, got %v", s.Problems)
	}
}

// TestEvalStarted reads an archive of a run that was stopped.
func TestEvalStarted(t *testing.T) {
	for _, head := range []string{"_journal/start.json", "start.json"} {
		archive := evalOf(t, evalEntry{head, evalHead, zip.Deflate}, evalEntry{"samples/1_epoch_1.json", sampleText("1", 1, "soon"), zip.Deflate})
		if s, err := Read("tides.eval", bytes.NewReader(archive)); err != nil || len(s.Segments) != 1 || s.ID != "ev-1" {
			t.Errorf("%s: want one sample, got %v, %v", head, s, err)
		}
	}
}

// TestEvalIsNone: other archives are not taken for logs.
func TestEvalIsNone(t *testing.T) {
	for name, archive := range map[string][]byte{
		"other":       evalOf(t, evalEntry{"word/document.xml", "<w/>", zip.Deflate}),
		"other head":  evalOf(t, evalEntry{"header.json", `{"version":2}`, zip.Deflate}),
		"broken head": evalOf(t, evalEntry{"header.json", `{"version":2`, zip.Deflate}),
		"cut":         evalOf(t, evalEntry{"header.json", evalHead, zip.Deflate})[:200],
	} {
		_, err := Read("file", bytes.NewReader(archive))
		var unknown *sessionfile.FormatError
		if !errors.As(err, &unknown) || !strings.Contains(unknown.Seen, "zip archive") {
			t.Errorf("%s: want an error that says it is a zip archive, got %v", name, err)
		}
	}
}

// FuzzEval reads archives: of any bytes, and of a head and a sample of any text.
func FuzzEval(f *testing.F) {
	f.Add(evalOf(f, evalEntry{"header.json", evalHead, zip.Deflate}, evalEntry{"samples/1_epoch_1.json", sampleText("1", 1, "soon"), zstd.ZipMethodWinZip}), "samples/1_epoch_1.json", "{}")
	f.Add([]byte("PK\x03\x04"), "samples/x_epoch_.json", sampleText(`"x"`, 1, "x"))
	f.Fuzz(func(t *testing.T, b []byte, name, sample string) {
		made := evalOf(t, evalEntry{"header.json", evalHead, zip.Deflate}, evalEntry{name, sample, zip.Store})
		for _, archive := range [][]byte{b, made} {
			s, err := Read("file", bytes.NewReader(archive))
			if err == nil {
				checkSession(t, s)
				continue
			}
			if unknown := (*sessionfile.FormatError)(nil); !errors.As(err, &unknown) {
				t.Errorf("want a sessionfile.FormatError, got %v", err)
			}
		}
	})
}
