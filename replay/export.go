package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
)

// An exporter writes the requests of one run to
// OUT/SESSION[.SEGMENT]/POLICY/WINDOW/: step-0001.json and so on in the session's
// dialect, manifest.json, and what was stored, in blobs/.
type exporter struct {
	dir      string
	manifest manifest
}

// A manifest says what an export holds. docs/replay-json.md lists the fields.
type manifest struct {
	Schema   int               `json:"schema"`
	Session  string            `json:"session"`
	Segment  int               `json:"segment"`
	Dialect  string            `json:"dialect"`
	Model    string            `json:"model"`
	Policy   string            `json:"policy"`
	Window   string            `json:"window"`
	Capacity int               `json:"capacity"`
	Limit    int               `json:"limit"`
	Overhead Overhead          `json:"overhead"`
	Steps    []manifestStep    `json:"steps"`
	Edits    []json.RawMessage `json:"edits"` // records of the journal, in order
}

type manifestStep struct {
	Step   int    `json:"step"`
	File   string `json:"file"`
	Tokens int    `json:"tokens"`
	Bound  int    `json:"bound"`
	Kind   string `json:"kind"`
	Edits  int    `json:"edits"` // of the journal, up to this Step
	Final  string `json:"final,omitempty"`

	DropBrokenThinking bool `json:"drop_broken_thinking,omitempty"` // see engine.Send
}

func newExporter(out string, raw *raw, run *Run) (*exporter, error) {
	session := safeName(strings.TrimSuffix(filepath.Base(raw.session), filepath.Ext(raw.session)))
	if raw.number > 1 {
		session = fmt.Sprintf("%s.%d", session, raw.number)
	}
	x := &exporter{dir: filepath.Join(out, session, safeName(run.Policy), safeName(run.Window)), manifest: manifest{
		Schema: Schema, Session: raw.session, Segment: raw.number, Dialect: string(raw.dialect), Model: raw.model,
		Policy: run.Policy, Window: run.Window, Capacity: run.Capacity, Limit: run.Limit, Overhead: raw.overhead,
		Steps: []manifestStep{}, Edits: []json.RawMessage{},
	}}
	if err := os.MkdirAll(filepath.Join(x.dir, "blobs"), 0o700); err != nil {
		return nil, fmt.Errorf("replay: export: %w", err)
	}
	return x, nil
}

// safeName keeps a name that comes from outside within its folder.
func safeName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || r < ' ' {
			return '_'
		}
		return r
	}, s)
	if strings.Trim(s, ".") == "" {
		return "_"
	}
	return s
}

func (x *exporter) step(n int, send *engine.Send, body []byte) error {
	name := fmt.Sprintf("step-%04d.json", n)
	if err := os.WriteFile(filepath.Join(x.dir, name), body, 0o600); err != nil {
		return fmt.Errorf("replay: export: %w", err)
	}
	last := 0
	for _, it := range send.Items {
		for _, id := range it.Edits {
			last = max(last, int(id))
		}
	}
	x.manifest.Steps = append(x.manifest.Steps, manifestStep{
		Step: n, File: name, Tokens: send.Count.Point, Bound: send.Count.Bound, Kind: send.Count.Kind.String(), Edits: last, Final: string(send.Final),
		DropBrokenThinking: send.DropBrokenThinking,
	})
	return nil
}

// finish writes the manifest and everything that the edits stored.
func (x *exporter) finish(sess *drive.Driver) error {
	for _, e := range sess.Machine().Journal() {
		line, err := journal.Encode(journal.Record{Kind: journal.KindEdit, Edit: e})
		if err != nil {
			return fmt.Errorf("replay: export: edit %d: %w", e.ID, err)
		}
		x.manifest.Edits = append(x.manifest.Edits, line)
		for _, ref := range e.Refs {
			if err := x.blob(sess, ref); err != nil {
				return err
			}
		}
	}
	b, err := json.MarshalIndent(x.manifest, "", " ")
	if err != nil {
		return fmt.Errorf("replay: export: manifest: %w", err)
	}
	if err := os.WriteFile(filepath.Join(x.dir, "manifest.json"), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("replay: export: %w", err)
	}
	return nil
}

func (x *exporter) blob(sess *drive.Driver, ref llm.Ref) error {
	if _, err := llm.ParseRef(string(ref)); err != nil {
		return fmt.Errorf("replay: export: %w", err)
	}
	data, err := sess.Blob(context.Background(), ref)
	if err != nil {
		return fmt.Errorf("replay: export: %w", err)
	}
	if err := os.WriteFile(filepath.Join(x.dir, "blobs", string(ref)), data, 0o600); err != nil {
		return fmt.Errorf("replay: export: %w", err)
	}
	return nil
}
