package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A proxyHost is what the flags and the settings say of conversations.
type proxyHost struct {
	settings config.Settings
	policy   policy.Policy
	catalog  catalog.Catalog
	windows  map[string]config.Limits // by model, or by provider/model
	view     bool                     // clients are told their own size
	offer    bool                     // the policy's own tools are offered
	byClient bool                     // the conversation's own model writes summaries, where the settings name none
	answers  bool                     // clients' own compactions are answered here
	defers   []string                 // tools that may be left out, by name
}

func (f proxyFlags) host() (proxyHost, error) {
	h := proxyHost{view: f.usage == usageClientView, offer: f.offerTools, defers: f.deferTools}
	var err error
	if len(h.defers) > 0 && !h.offer {
		return h, usage(errors.New("proxy: --defer-tools, want --offer-tools beside it, got it alone"), "what is left out is found by a tool that is offered")
	}
	if f.usage != usageActual && !h.view {
		return h, usage(fmt.Errorf("proxy: --usage, want %s or %s, got %q", usageActual, usageClientView, f.usage), "")
	}
	if f.summaries != summariesCode && f.summaries != summariesClient {
		return h, usage(fmt.Errorf("proxy: --summaries, want %s or %s, got %q", summariesCode, summariesClient, f.summaries), "")
	}
	if f.compactions != compactionsPass && f.compactions != compactionsAnswer {
		return h, usage(fmt.Errorf("proxy: --client-compaction, want %s or %s, got %q", compactionsPass, compactionsAnswer, f.compactions), "")
	}
	h.byClient, h.answers = f.summaries == summariesClient, f.compactions == compactionsAnswer
	if h.policy, err = loadPolicy(f.policy); err != nil {
		return h, err
	}
	if h.settings, err = loadSettings(f.config); err != nil {
		return h, fail(err, settingsPage)
	}
	h.policy, _ = h.settings.ApplyTo(h.policy)
	c, err := catalog.Load()
	if err != nil {
		return h, fail(err, "")
	}
	h.catalog = c.With(h.settings.Models...)
	h.windows, err = f.statedWindows()
	return h, err
}

// statedWindows reads the flags --window.
func (f proxyFlags) statedWindows() (map[string]config.Limits, error) {
	known, err := knownSettings()
	if err != nil {
		return nil, fail(err, "")
	}
	out := map[string]config.Limits{}
	for _, w := range f.windows {
		model, tokens, ok := strings.Cut(w, "=")
		if !ok || model == "" {
			return nil, usage(fmt.Errorf("proxy: --window %q, want MODEL=TOKENS", w), "such as --window qwen3=32k")
		}
		l, err := config.ParseOverrides([]string{"contextWindow=" + tokens}, known)
		if err != nil {
			return nil, usage(fmt.Errorf("proxy: --window %q, want a number of tokens, such as 32768 or 32k", w), "")
		}
		out[model] = l
	}
	return out, nil
}

// window returns what is stated of a target: by a flag, else by the settings. What nobody
// states is left to the catalogue and to what the provider says.
func (h proxyHost) window(provider, model string) budget.Window {
	over, ok := h.windows[provider+"/"+model]
	if !ok {
		over = h.windows[model]
	}
	stated := h.settings.Limits(config.Query{Provider: provider, Model: model, Policy: h.policy, Catalog: h.catalog, Override: over})
	w := budget.Window{Capacity: stated.ContextWindow.Value, OutputReserve: stated.MaxOutputTokens.Value, Buffer: stated.ContextWindowBufferTokens.Value}
	// A window of the section defaults is for models that nobody knows (docs/configuration.md).
	if m, _ := h.catalog.Lookup(model); m.Window > 0 && stated.ContextWindow == h.settings.Defaults.ContextWindow {
		w.Capacity = 0
	}
	if stated.ContextWindowBufferTokens.Set() && w.Buffer == 0 {
		w.Buffer = budget.None
	}
	return w
}

func (h proxyHost) gateway(st store.Store, log *slog.Logger) (*gateway.Gateway, error) {
	summariser, err := summariserOf(h.settings, h.catalog)
	if err != nil {
		return nil, err
	}
	return gateway.New(gateway.Options{
		Store: st, Summariser: summariser, ClientSummaries: h.byClient, AnswerCompactions: h.answers, Policy: h.policy, Catalog: &h.catalog,
		Window: h.window, AskWindows: true, ClientView: h.view,
		Offer: h.offer, Allow: h.allow(), ToolKind: h.kind(), Log: log,
	})
}

// kind returns which tools of clients may be left out; nil: none.
func (h proxyHost) kind() func(tool string) llm.ToolKind {
	if len(h.defers) == 0 {
		return nil
	}
	return func(tool string) llm.ToolKind {
		if config.ToolListed(h.defers, tool) {
			return llm.ToolOfServer
		}
		return llm.ToolBuiltIn
	}
}

// allow returns which tools the settings let a model have; nil: they have no lists.
func (h proxyHost) allow() func(provider, model, tool string) bool {
	if len(h.settings.Tools) == 0 {
		return nil
	}
	return func(provider, model, tool string) bool {
		return h.settings.ToolsOf(provider, model).Allows(tool)
	}
}

// allUpstreams returns the providers of the settings that have an address, and over them
// those of the flags --upstream.
func (f proxyFlags) allUpstreams(s config.Settings) ([]proxy.Upstream, error) {
	var out []proxy.Upstream
	for _, p := range s.Providers {
		if p.BaseURL == "" {
			continue
		}
		up, err := proxy.ParseUpstream(strings.ToLower(p.Name), p.BaseURL)
		if err != nil {
			return nil, fail(err, settingsPage)
		}
		up.Provider, _ = providerNamed(s, p.Name)
		up.Provider.Name = strings.ToLower(p.Name)
		out = append(out, up)
	}
	for _, text := range f.upstreams {
		name, base, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usage(fmt.Errorf("proxy: --upstream %q, want NAME=URL", text), "such as --upstream openrouter=https://openrouter.ai/api/v1")
		}
		up, err := proxy.ParseUpstream(name, base)
		if err != nil {
			return nil, usage(fmt.Errorf("proxy: --%s", strings.TrimPrefix(err.Error(), "proxy: ")), "")
		}
		if p, ok := providerNamed(s, name); ok {
			up.Provider = p
		}
		out = append(out, up)
	}
	for _, up := range out {
		if f.isSelf(up) {
			return nil, usage(errors.New("proxy: upstream "+up.Provider.Name+" is the proxy itself"), "name another address, or listen at another one with --listen")
		}
	}
	return out, nil
}

// isSelf reports whether an upstream is where the proxy listens: requests would go round.
func (f proxyFlags) isSelf(up proxy.Upstream) bool {
	_, port, err := net.SplitHostPort(f.listen)
	host := client.IsLoopback(up.Base.Hostname())
	scheme := "http"
	if f.tlsCert != "" {
		scheme = "https"
	}
	return err == nil && host && up.Base.Scheme == scheme && up.Base.Port() == port
}
