package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"
)

// The session's invented circumstances.
const (
	modelName = "claude-sonnet-4-5-20250929"
	version   = "2.0.14"
	cacheLife = 5 * time.Minute // of a prompt cache that is not used
)

// A recorder writes the lines of a session file.
type recorder struct {
	out    io.Writer
	size   sizer
	now    time.Time
	parent string // uuid of the line before
	lines  int
	calls  int
	tools  int

	prompt int       // tokens of the next call's prompt
	cached int       // of it, what the provider has seen before
	used   time.Time // when the cache was used last
}

func newRecorder(out io.Writer) (*recorder, error) {
	size, err := newSizer()
	if err != nil {
		return nil, err
	}
	r := &recorder{out: out, size: size, now: time.Date(2026, 11, 26, 9, 12, 4, 0, time.UTC), prompt: overhead}
	return r, r.encode(map[string]any{
		"type": "file-history-snapshot", "messageId": id("line", 1), "isSnapshotUpdate": false,
		"snapshot": map[string]any{"messageId": id("line", 1), "timestamp": stamp(r.now), "trackedFileBackups": map[string]any{}},
	})
}

// A line is one line of the conversation.
type line struct {
	Parent    *string `json:"parentUuid"`
	Side      bool    `json:"isSidechain"`
	User      string  `json:"userType"`
	Folder    string  `json:"cwd"`
	Session   string  `json:"sessionId"`
	Version   string  `json:"version"`
	Branch    string  `json:"gitBranch"`
	Type      string  `json:"type"`
	Message   any     `json:"message"`
	Request   string  `json:"requestId,omitempty"`
	UUID      string  `json:"uuid"`
	Timestamp string  `json:"timestamp"`
	Assistant string  `json:"sourceToolAssistantUUID,omitempty"`
}

type prompt struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type reply struct {
	Model        string  `json:"model"`
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Role         string  `json:"role"`
	Content      [1]any  `json:"content"`
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
	Usage        usage   `json:"usage"`
}

type usage struct {
	Input  int    `json:"input_tokens"`
	Write  int    `json:"cache_creation_input_tokens"`
	Read   int    `json:"cache_read_input_tokens"`
	Output int    `json:"output_tokens"`
	Tier   string `json:"service_tier"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type useBlock struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type resultBlock struct {
	ID      string `json:"tool_use_id"`
	Type    string `json:"type"`
	Content string `json:"content"`
	Failed  bool   `json:"is_error,omitempty"`
}

// human writes what the person typed, after some time to read and think.
func (r *recorder) human(text string) error {
	if r.lines > 0 {
		r.now = r.now.Add(time.Duration(90+len(text)) * time.Second)
	}
	r.prompt += r.size.message(text)
	return r.write(line{Type: "user", Message: prompt{"user", text}})
}

// model writes one reply, a line for each block, and the results of its calls.
func (r *recorder) model(text string, done []result) error {
	r.calls++
	var blocks []any
	if text != "" {
		blocks = append(blocks, textBlock{"text", text})
	}
	output := r.size.reply(text)
	for _, d := range done {
		r.tools++
		input, err := encode(d.input)
		if err != nil {
			return err
		}
		output += r.size.use(string(input))
		blocks = append(blocks, useBlock{"tool_use", "toolu_01" + short("tool", r.tools), d.tool, input})
	}
	u := r.spend(output)
	var uuids []string
	for i, b := range blocks {
		last := i == len(blocks)-1
		r.now = r.now.Add(time.Duration(1+output/len(blocks)*14) * time.Millisecond)
		r.used = r.now
		shown := u
		if !last { // the client writes a block as soon as it is there, with the usage so far
			shown.Output = 1 + i
		}
		l := line{Type: "assistant", Request: "req_01" + short("request", r.calls), Message: reply{
			Model: modelName, ID: "msg_01" + short("message", r.calls), Type: "message", Role: "assistant", Content: [1]any{b}, Usage: shown,
		}}
		if err := r.write(l); err != nil {
			return err
		}
		uuids = append(uuids, r.parent)
	}
	return r.results(done, uuids[len(uuids)-len(done):])
}

// results writes a line for each result. It hangs off the line of its call.
func (r *recorder) results(done []result, callers []string) error {
	for i, d := range done {
		r.now = r.now.Add(time.Duration(180+len(d.output)/3) * time.Millisecond)
		r.prompt += r.size.result(d.output, i == 0)
		r.parent = callers[i]
		block := resultBlock{"toolu_01" + short("tool", r.tools-len(done)+1+i), "tool_result", d.output, d.failed}
		if err := r.write(line{Type: "user", Message: prompt{"user", []any{block}}, Assistant: callers[i]}); err != nil {
			return err
		}
	}
	return nil
}

// spend books one call: its prompt, what of it the cache held, and its output.
func (r *recorder) spend(output int) usage {
	r.now = r.now.Add(time.Duration(1200+r.prompt/50) * time.Millisecond)
	if r.now.Sub(r.used) > cacheLife {
		r.cached = 0
	}
	const fresh = 4 // tokens behind the last cache mark
	u := usage{Input: fresh, Write: r.prompt - fresh - r.cached, Read: r.cached, Output: output, Tier: "standard"}
	r.cached = r.prompt - fresh
	r.prompt += output
	return u
}

// write completes a line and writes it. The next one hangs off it.
func (r *recorder) write(l line) error {
	r.lines++
	if r.parent != "" {
		parent := r.parent
		l.Parent = &parent
	}
	l.User, l.Folder, l.Session, l.Version, l.Branch = "external", root, id("session", 0), version, "main"
	l.UUID, l.Timestamp = id("line", r.lines), stamp(r.now)
	r.parent = l.UUID
	return r.encode(l)
}

func (r *recorder) encode(v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	_, err = r.out.Write(append(b, '\n'))
	return err
}

// encode is JSON without the escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func stamp(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }

// id is a made-up UUID that is the same every time.
func id(kind string, n int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, n))
	h[6], h[8] = h[6]&0x0f|0x40, h[8]&0x3f|0x80
	x := hex.EncodeToString(h[:16])
	return strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")
}

// short is a made-up id of 22 letters and digits.
func short(kind string, n int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, n))
	return fmt.Sprintf("%022s", new(big.Int).SetBytes(h[:16]).Text(62))
}
