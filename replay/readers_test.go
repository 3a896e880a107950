package replay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

// replayEverywhere runs a session file under every preset on wide and narrow windows, and
// judges each request: what is sent is in the file, and what left can be had again.
func replayEverywhere(t *testing.T, path string) {
	t.Helper()
	var o replay.Options
	for _, name := range policy.Presets() {
		p, err := policy.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		o.Policies = append(o.Policies, p)
	}
	for _, text := range []string{"model", "60%", "30%"} {
		w, err := replay.ParseWindow(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Windows = append(o.Windows, w)
	}
	o.Judge, o.Every = true, true
	r, err := replay.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Session(context.Background(), s, func(res replay.Result) error {
		checkResult(t, res)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestReaders: what a reader puts in the place of what its file does not have, and the
// shapes that it gives to media, are told from what nobody wrote.
func TestReaders(t *testing.T) {
	const scenarios = "../sessionfile/formats/testdata"
	for _, folder := range []string{"aider", "cline", "continue", "opencode", "pi"} {
		files, err := filepath.Glob(filepath.Join(scenarios, folder, "*.txt"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no scenarios: %v", folder, err)
		}
		for _, file := range files {
			t.Run(folder+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				archive, err := txtar.ParseFile(file)
				if err != nil {
					t.Fatal(err)
				}
				replayEverywhere(t, write(t, archive.Files[0].Name, archive.Files[0].Data))
			})
		}
	}
}

// TestReaderOfMedia: images that a person attached or that a tool returned, and several
// texts in one message, leave the View and can be had again in every dialect.
func TestReaderOfMedia(t *testing.T) {
	for _, provider := range []string{"loop", "anthropic", "openai", "google"} {
		t.Run(provider, func(t *testing.T) {
			replayEverywhere(t, write(t, "export.json", []byte(longExport(provider))))
		})
	}
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// longExport writes an export of opencode with images and with outputs that do not fit.
func longExport(provider string) string {
	const image = `{"type":"file","mime":"image/png","filename":"a.png","url":"data:image/png;base64,aGFyYm91cg=="}`
	var b strings.Builder
	message := func(info, parts string) {
		fmt.Fprintf(&b, ",\n{\"info\":{%s},\"parts\":[%s]}", info, parts)
	}
	message(`"id":"u1","role":"user","time":{"created":1776000000000}`, `{"type":"text","text":"Look."},`+image)
	message(`"id":"u2","role":"user","time":{"created":1776000000001}`,
		`{"type":"text","text":"Read it all."},{"type":"text","text":"Then tell me."},{"type":"file","mime":"application/pdf","filename":"b.pdf","url":"https://harbour.example/b.pdf"}`)
	for i := range 8 {
		lines := strings.Repeat(fmt.Sprintf(`buoy %d is lit at dusk and put out at dawn\n`, i), 60)
		attached := ""
		if i == 3 {
			attached = `,"attachments":[` + image + `]`
		}
		message(fmt.Sprintf(`"id":"a%d","role":"assistant","parentID":"u2","modelID":"m","providerID":"%s","finish":"tool-calls","time":{"created":%d},`+
			`"tokens":{"input":%d,"output":20,"reasoning":0,"cache":{"read":0,"write":0}}`, i, provider, 1776000001000+i, 900+700*i),
			fmt.Sprintf(`{"type":"step-start"},{"type":"text","text":"Buoy %d."},{"type":"tool","callID":"c%d","tool":"read","state":`+
				`{"status":"completed","input":{"n":%d},"output":"%s","time":{"start":1,"end":2}%s}},{"type":"step-finish"}`, i, i, i, lines, attached))
	}
	return `{"info":{"id":"ses_1","directory":"/home/ada/harbour","time":{"created":1776000000000}},"messages":[` + strings.TrimPrefix(b.String(), ",") + "\n]}\n"
}
