package scriptmodel

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	_ "embed"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// What holds where a script says nothing.
const (
	defaultCount    = "approximate"
	defaultSecret   = "scripted"
	defaultBytes    = 32 << 20 // of the Messages API
	defaultCacheMin = 1024     // of most models of two providers
)

//go:embed default.txt
var defaultText string

// DefaultText returns the script of an agent's run against any client: it names the
// conversation, calls the client's shell once, and ends.
func DefaultText() string { return defaultText }

// Parse reads a script; the package comment says how one is written. The error says which
// line is wrong, what was wanted there, and what it has.
func Parse(text string) (*Script, error) {
	s := &Script{Count: defaultCount, Secret: defaultSecret, Bytes: defaultBytes, Cache: true, CacheMin: defaultCacheMin}
	lines, err := lex(text)
	inReply := false
	for i := 0; i < len(lines) && err == nil; i++ {
		r := &reader{lines[i]}
		switch {
		case !r.indented:
			inReply = r.words[0] == word{text: "reply"}
			err = s.setting(r)
		case inReply:
			err = s.step(r)
		default:
			err = fmt.Errorf("line %d: step, want a reply above it, got none", r.number)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("scriptmodel: parse: %w", err)
	}
	return s, nil
}

// setting reads a line that is not indented.
func (s *Script) setting(r *reader) (err error) {
	const want = "window, output, model, count, key, secret, bytes, cache, strict, signatures, loop or reply"
	at := *r
	switch name := r.next(); name {
	case "window":
		s.Window, err = r.count(name, 0)
	case "output":
		s.Output, err = r.count(name, 0)
	case "bytes":
		s.Bytes, err = r.count(name, 0)
	case "model":
		err = s.model(r)
	case "count":
		s.Count, err = r.counter()
	case "key":
		s.Key, err = r.text(name)
	case "secret":
		s.Secret, err = r.text(name)
	case "cache":
		err = s.cache(r)
	case "strict":
		s.Strict = true
	case "signatures":
		err = s.signatures(r)
	case "loop":
		err = s.loop(r)
	case "reply":
		err = s.reply(r)
	default:
		return at.wrong("setting", want)
	}
	if err != nil {
		return err
	}
	return r.end("line")
}

func (s *Script) model(r *reader) (err error) {
	var m Rule
	if m.Model, err = r.pattern("model"); err != nil {
		return err
	}
	for r.more() && err == nil {
		switch {
		case r.skip("window"):
			m.Window, err = r.count("window", 0)
		case r.skip("output"):
			m.Output, err = r.count("output", 0)
		default:
			return r.wrong("model", "window or output")
		}
	}
	s.Models = append(s.Models, m)
	return err
}

// counter takes the id of an estimator. That a vocabulary can be loaded is not looked at.
func (r *reader) counter() (string, error) {
	id, err := r.text("count")
	if err != nil {
		return "", err
	}
	_, err = token.NewCounter(id, func(string) (*bpe.Encoding, error) { return nil, errLater })
	if err != nil && !errors.Is(err, errLater) {
		return "", fmt.Errorf("line %d: count, %w", r.number, err)
	}
	return id, nil
}

var errLater = errors.New("loaded when it is used")

// pattern takes a quoted pattern.
func (r *reader) pattern(what string) (string, error) {
	at := *r
	p, err := r.text(what)
	if err != nil {
		return "", err
	}
	if _, bad := path.Match(p, ""); bad != nil {
		return "", at.wrong(what, "a pattern such as \"name-*\"")
	}
	return p, nil
}

func (s *Script) cache(r *reader) (err error) {
	switch {
	case r.skip("off"):
		s.Cache = false
	case r.skip("min"):
		s.CacheMin, err = r.count("cache min", 0)
	default:
		return r.wrong("cache", "off or min")
	}
	return err
}

func (s *Script) signatures(r *reader) error {
	switch {
	case r.skip("error"):
		s.Signatures = BindError
	case r.skip("drop"):
		s.Signatures = BindDrop
	case r.skip("off"):
		s.Signatures = BindOff
	default:
		return r.wrong("signatures", "error, drop or off")
	}
	return nil
}

// loop reads the short form of an agent's run: a command, and what is said when it has run.
func (s *Script) loop(r *reader) error {
	command, err := r.text("loop")
	if err != nil {
		return err
	}
	final, err := r.text("loop")
	if err != nil {
		return err
	}
	tools, result := Condition{Kind: WhenTools}, Condition{Kind: WhenResult}
	noTools, noResult := tools, result
	noTools.Not, noResult.Not = true, true
	s.Replies = append(
		s.Replies,
		Block{Line: r.number, When: []Condition{noTools, noResult}, Reply: Reply{Parts: []Saying{{Kind: SayText, Text: "A title"}}}},
		Block{Line: r.number, When: []Condition{noResult}, Reply: Reply{Parts: []Saying{{Kind: SayShell, Text: command}}}},
		Block{Line: r.number, Reply: Reply{Parts: []Saying{{Kind: SayText, Text: final}}}},
	)
	return nil
}

// reply reads the head of a block.
func (s *Script) reply(r *reader) (err error) {
	b := Block{Line: r.number, Times: 1}
	switch {
	case r.skip("always"):
		b.Times = 0
	case r.skip("once"):
	case r.more() && !r.words[0].quoted && r.words[0].text != "when":
		if b.Times, err = r.count("reply", 1); err != nil {
			return r.wrong("reply", "once, always, N times or when")
		}
		if !r.skip("times") {
			return r.wrong("reply", "times")
		}
	}
	if r.skip("when") {
		if b.When, err = r.conditions(); err != nil {
			return err
		}
	}
	s.Replies = append(s.Replies, b)
	return nil
}

// conditions reads what follows when.
func (r *reader) conditions() (all []Condition, err error) {
	const want = "user, system, result, tools, tool, model, dialect, stream or json, or one of them after no"
	for {
		at := *r
		c := Condition{Not: r.skip("no")}
		switch name := r.next(); name {
		case "user":
			c.Kind = WhenUser
			c.Text, err = r.text(name)
		case "system":
			c.Kind = WhenSystem
			c.Text, err = r.text(name)
		case "result":
			c.Kind = WhenResult
			c.Text, _ = r.quotedNext()
		case "tools":
			c.Kind = WhenTools
		case "tool":
			c.Kind = WhenTool
			c.Text, err = r.text(name)
		case "model":
			c.Kind = WhenModel
			c.Text, err = r.pattern(name)
		case "dialect":
			c.Kind = WhenDialect
			c.Text, err = r.dialect()
		case "stream":
			c.Kind = WhenStream
		case "json":
			c.Kind = WhenJSON
		default:
			return nil, at.wrong("condition", want)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
		if !r.skip(",") {
			return all, nil
		}
	}
}

func (r *reader) dialect() (string, error) {
	at := *r
	d, err := r.text("dialect")
	if _, ok := codecOf(llm.Dialect(d)); err == nil && !ok {
		return "", at.wrong("dialect", "one of "+strings.Join(dialects(), ", "))
	}
	return d, err
}

// duration takes a duration such as 200ms.
func (r *reader) duration(what string) (time.Duration, error) {
	if r.more() && !r.words[0].quoted {
		if d, err := time.ParseDuration(r.words[0].text); err == nil && d >= 0 {
			r.words = r.words[1:]
			return d, nil
		}
	}
	return 0, r.wrong(what, "a duration such as 200ms")
}

// object takes the JSON object that ends a line.
func (r *reader) object(what string) (string, error) {
	at := *r
	if s, ok := r.quotedNext(); ok && gjson.Valid(s) && strings.HasPrefix(s, "{") {
		return s, nil
	}
	return "", at.wrong(what, "a JSON object")
}

// plain reports whether s can be the name of a tool.
func plain(s string) bool {
	for _, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-.:/", c) {
			return false
		}
	}
	return s != "" && utf8.ValidString(s)
}
