package proxytest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// A scenario is one way in which proxies have failed, with the reports of it.
type scenario struct {
	name string // repository#number of each report, joined by "_", and what must hold
	run  func(*testing.T)
}

// TestPublicFailures: failures of proxies that were reported in public do not occur here.
func TestPublicFailures(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, s.run)
	}
}

func scenarios() []scenario {
	return slices.Concat(prefixFailures(), thinkingFailures(), pairingFailures(), streamFailures(), usageFailures(), headerFailures())
}

// reported is all failures that were looked at.
const reported = `
	headroom#1042 headroom#2438 headroom#327 headroom#1636 headroom#2671 headroom#3379 claude-code-router#1372 claude-code-proxy#99 ccproxy-api#61
	helm-api#208 onecli#404 vscode#323642 buzz#3463
	CLIProxyAPI#2172 CLIProxyAPI#1584 CLIProxyAPI#570 claude-code#10627 claude-code#12311 claude-mem#3198 open-webui#29860 zed#63571 oh-my-pi#6093
	codex#8119 opencode#4832 CLIProxyAPI#2360 Antigravity-Manager#1513
	claude-code#6836 headroom#1077 headroom#1006 headroom#3055 headroom#3266 headroom#1103 headroom#902 bifrost#3443 bifrost#3441 ccrelay#119
	bifrost#5169 bifrost#4556 bifrost#2048 litellm#24176 litellm#12854 claude-code-router#1672
	bitrouter#422 litellm#36024 sub2api#770 tale#3396 commandcode-proxy#19 CLIProxyAPI#4280
	claude-relay-service#1027 superlocalmemory#79 vm0#8903
	litellm#13774 litellm#31499 litellm#37140 new-api#4184
	CLIProxyAPI#5617 CLIProxyAPI#5854 headroom#1132 cline#4346 lobehub#18612 bifrost#3357
	claude-code#21612 CLIProxyAPI#2866 litellm#32202 litellm#20432 litellm#37418 litellm#37905 litellm#42170
	clawvisor#428 suna#6490 llm-gateway#2126 headroom#605
`

// TestNoneForgotten: each failure has a scenario, or docs/proxy.md says why it has none.
func TestNoneForgotten(t *testing.T) {
	page, err := os.ReadFile("../../docs/proxy.md")
	must(t, err)
	all := strings.Fields(reported)
	for _, id := range all {
		told := strings.Contains(string(page), "`"+id+"`")
		tried := slices.ContainsFunc(scenarios(), func(s scenario) bool { return slices.Contains(strings.Split(s.name, "_"), id) })
		if told == tried {
			t.Errorf("%s: want a scenario or a row in docs/proxy.md, got scenario %t, row %t", id, tried, told)
		}
	}
	for _, s := range scenarios() {
		for id := range strings.SplitSeq(s.name, "_") {
			if strings.Contains(id, "#") && !slices.Contains(all, id) {
				t.Errorf("%s: %s is none of those that were looked at", s.name, id)
			}
		}
	}
}
