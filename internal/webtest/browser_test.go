package webtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium returns where the browser is. Without one the test is skipped, or fails in CI.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("PLIMSOLL_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no Chromium: want one on PATH or in PLIMSOLL_CHROMIUM")
	}
	t.Skip("no Chromium on PATH and PLIMSOLL_CHROMIUM is not set: pages are not looked at")
	return ""
}

// browser starts one browser for a test and all its subtests.
func browser(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("browser does not start: %v", err)
	}
	return ctx
}

// A look is how a page is looked at.
type look struct {
	width int64
	theme string // "light" or "dark"
}

// looks are three widths in both themes.
func looks() []look {
	var out []look
	for _, width := range []int64{360, 800, 1440} {
		for _, theme := range []string{"light", "dark"} {
			out = append(out, look{width, theme})
		}
	}
	return out
}

func (l look) String() string { return fmt.Sprintf("%d-%s", l.width, l.theme) }

// A tab is an open page that notes what it says and asks for.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	faults []string
}

// open opens a file in a tab of its own. When the test ends, whatever the console got, and
// each request but the one for the file, is a failure.
func open(ctx context.Context, t *testing.T, file string, l look) *tab {
	t.Helper()
	ctx, release := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(release)
	ctx, cancel := chromedp.NewContext(ctx)
	p := &tab{t: t, ctx: ctx}
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	address := "file://" + path
	t.Cleanup(func() {
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, fault := range p.faults {
			t.Error(fault)
		}
	})
	p.must(chromedp.Do(ctx, chromedp.EmulateViewport(l.width, 900)))
	p.must(chromedp.Listen(ctx, func(event any) {
		if fault := faultOf(event, address); fault != "" {
			p.mu.Lock()
			p.faults = append(p.faults, fault)
			p.mu.Unlock()
		}
	}))
	_, err = chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	p.must(err)
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	p.must(err)
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.theme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	p.must(err)
	p.must(chromedp.Do(ctx, chromedp.Navigate(address)))
	p.settle()
	return p
}

// faultOf says what is wrong with an event, if something is.
func faultOf(event any, address string) string {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		text := []string{}
		for _, a := range e.Args {
			text = append(text, string(a.Value))
		}
		return fmt.Sprintf("console.%s: %s", e.Type, strings.Join(text, " "))
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		return "exception: " + text
	case *cdplog.EventEntryAdded:
		return fmt.Sprintf("log %s: %s", e.Entry.Level, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if url, _, _ := strings.Cut(e.Request.URL, "#"); url != address {
			return "request to " + e.Request.URL
		}
	}
	return ""
}

func (p *tab) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// settle waits until what was asked for is drawn: two frames.
func (p *tab) settle() {
	p.t.Helper()
	eval[bool](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// eval runs a script on the page, and waits for its promise.
func eval[T any](p *tab, script string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("script %.80q: %v", script, err)
	}
	return v
}

// press presses a key.
func (p *tab) press(key string) {
	p.t.Helper()
	p.must(chromedp.Do(p.ctx, chromedp.KeyEvent(key)))
}

// shoot writes a picture of the whole page into the folder PLIMSOLL_SHOTS, if it is set.
func (p *tab) shoot(name string) {
	p.t.Helper()
	folder := os.Getenv("PLIMSOLL_SHOTS")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	p.must(err)
	p.must(os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600))
}
