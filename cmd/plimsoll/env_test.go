package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
	"github.com/tidwall/gjson"
)

// Every guide says where the proxy is, leaves no gap that is the proxy's to fill, and what
// it shows of a file is one of that kind.
func TestGuides(t *testing.T) {
	address := &url.URL{Scheme: "http", Host: "127.0.0.1:8790"}
	for _, g := range guides {
		for _, shell := range shellNames {
			text, err := g.lines(address, shell)
			if err != nil || !strings.Contains(text, "127.0.0.1:8790") || strings.ContainsAny(text, "\x00") || strings.Contains(text, "{url}") || strings.Contains(text, "{host}") {
				t.Errorf("%s for %s: %v\n%s", g.name, shell, err, text)
			}
		}
		file, _, _ := strings.Cut(g.file, ",")
		text := strings.ReplaceAll(g.text, "{url}", address.String())
		var err error
		switch {
		case strings.HasSuffix(file, ".json") && !gjson.Valid(text):
			t.Errorf("%s: no JSON", g.name)
		case strings.HasSuffix(file, ".toml"):
			err = toml.Unmarshal([]byte(text), &map[string]any{})
		case strings.HasSuffix(file, ".yaml"):
			err = yaml.Unmarshal([]byte(text), &map[string]any{})
		}
		if err != nil {
			t.Errorf("%s: %v", g.name, err)
		}
	}
}

// Where nothing is said, the lines are for the user's own shell.
func TestUsualShell(t *testing.T) {
	for _, c := range [][3]string{{"linux", "/bin/bash", "sh"}, {"darwin", "/opt/bin/fish", "fish"}, {"windows", "", "powershell"}, {"windows", "/usr/bin/bash", "sh"}, {"linux", "", "sh"}} {
		if got := usualShell(c[0], c[1]); got != c[2] {
			t.Errorf("%s, %q: got %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
