package scriptmodel

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel/internal/prefix"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A kept beginning is a resource of cachedContents (ai.google.dev, context caching).
type kept struct {
	account, model string
	system, tools  string // as they came; empty: none
	contents       []string
	tokens         int
	expires        time.Duration // by the server's clock
}

// keptRoute reads .../cachedContents and .../cachedContents/ID.
func keptRoute(method, path string) (route, bool) {
	_, id, ok := strings.Cut(path+"/", "/cachedContents/")
	id = strings.TrimSuffix(id, "/")
	if !ok || strings.Contains(id, "/") {
		return route{}, false
	}
	form := method == "POST"
	if id != "" {
		form = method == "GET" || method == "PATCH" || method == "DELETE"
	}
	return route{dialect: generate, action: actKept, id: id, form: form}, true
}

// keep answers the requests that make, show, lengthen and give up resources.
func (x *exchange) keep() (answer, *wire.Error) {
	if x.route.id == "" {
		return x.makeKept()
	}
	name := "cachedContents/" + x.route.id
	k, ok := x.keptOf(name)
	if !ok {
		return answer{}, x.noKept()
	}
	switch x.req.Method {
	case "DELETE":
		delete(x.state.kept, name)
		return jsonAnswer([]byte("{}")), nil
	case "PATCH":
		life, refused := x.lifetime()
		if refused != nil {
			return answer{}, refused
		}
		k.expires = x.state.clock + life
		x.state.kept[name] = k
	}
	return x.shown(name, k), nil
}

// makeKept makes a resource of what the body has. What it takes is counted as in a request.
func (x *exchange) makeKept() (answer, *wire.Error) {
	life, refused := x.lifetime()
	if refused != nil {
		return answer{}, refused
	}
	model := strings.TrimPrefix(x.field("model").String(), "models/")
	if model == "" {
		return answer{}, x.bad("* CreateCachedContentRequest.cached_content.model: must be specified", "")
	}
	k := kept{account: x.account, model: model, system: x.field("systemInstruction").Raw, tools: x.field("tools").Raw}
	x.field("contents").ForEach(func(_, v gjson.Result) bool {
		k.contents = append(k.contents, v.Raw)
		return true
	})
	r, err := x.codec.DecodeRequest(k.before(nil))
	if err != nil {
		return answer{}, x.bad(err.Error(), "")
	}
	k.tokens, k.expires = prefix.Of(r, x.count, "").Tokens(), x.state.clock+life
	if k.tokens < x.script.CacheMin {
		return answer{}, x.bad(fmt.Sprintf("Cached content is too small. total_token_count=%d, min_total_token_count=%d", k.tokens, x.script.CacheMin), "")
	}
	if x.state.kept == nil {
		x.state.kept = map[string]kept{}
	}
	name := "cachedContents/" + x.id("kept")
	x.state.kept[name] = k
	return x.shown(name, k), nil
}

// lifetime reads how long a resource is to be kept.
func (x *exchange) lifetime() (time.Duration, *wire.Error) {
	ttl := x.field("ttl")
	if !ttl.Exists() {
		return time.Hour, nil
	}
	d, err := time.ParseDuration(ttl.String())
	if err != nil || d <= 0 || !strings.HasSuffix(ttl.String(), "s") {
		return 0, x.bad(fmt.Sprintf("Invalid value at 'cached_content.ttl' (type.googleapis.com/google.protobuf.Duration), %q", ttl.String()), "")
	}
	return d, nil
}

// shown returns a resource as an answer has it.
func (x *exchange) shown(name string, k kept) answer {
	end := time.Unix(0, 0).UTC().Add(k.expires).Format(time.RFC3339Nano)
	return jsonAnswer(object(
		"name", name, "model", "models/"+k.model, "expireTime", end, "usageMetadata", rawJSON(object("totalTokenCount", k.tokens)),
	))
}

// keptOf returns a resource of the account that has not lapsed.
func (x *exchange) keptOf(name string) (kept, bool) {
	k, ok := x.state.kept[name]
	return k, ok && k.account == x.account && x.state.clock < k.expires
}

// noKept is what the provider says of a resource that is another's, has lapsed, or never was.
func (x *exchange) noKept() *wire.Error {
	return x.fault(403, "CachedContent not found (or permission denied)")
}

// recallKept puts what a resource holds before the contents of a request that names it.
func (x *exchange) recallKept() *wire.Error {
	name := x.field("cachedContent")
	if x.route.dialect != generate || x.route.action != actReply || !name.Exists() {
		return nil
	}
	if refused := x.check(); refused != nil { // of what stands beside it
		return refused
	}
	k, ok := x.keptOf(name.String())
	if !ok {
		return x.noKept()
	}
	if k.model != x.route.model {
		return x.bad(fmt.Sprintf("Model used by GenerateContent request (models/%s) and CachedContent (models/%s) has to be the same.", x.route.model, k.model), "")
	}
	x.held = k.tokens
	x.body = k.before(x.body)
	return nil
}

// before returns a body with what k holds before its own contents.
func (k kept) before(body []byte) []byte {
	contents := k.contents[:len(k.contents):len(k.contents)]
	var pairs []any
	gjson.ParseBytes(body).ForEach(func(name, v gjson.Result) bool {
		switch name.String() {
		case "cachedContent":
		case "contents":
			for _, c := range v.Array() {
				contents = append(contents, c.Raw)
			}
		default:
			pairs = append(pairs, name.String(), rawJSON(v.Raw))
		}
		return true
	})
	if k.system != "" {
		pairs = append(pairs, "systemInstruction", rawJSON(k.system))
	}
	if k.tools != "" {
		pairs = append(pairs, "tools", rawJSON(k.tools))
	}
	return object(append(pairs, "contents", rawJSON("["+strings.Join(contents, ",")+"]"))...)
}
