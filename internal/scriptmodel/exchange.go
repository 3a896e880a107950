package scriptmodel

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel/internal/prefix"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// An exchange is one request on its way through the server, whose lock it holds.
type exchange struct {
	*Server
	req   *http.Request
	route route
	codec codec
	body  []byte // as it came, or with the history that the server holds for it
	call  *Call

	r       llm.Request
	prompt  prefix.Prompt
	account string
	held    int       // tokens of the prompt that a named resource holds
	dropped []dropped // thinking that the server left out
	applied [][]byte  // what else it left out, as it tells

	compacted *compaction // made before the model spoke; nil: none was
}

func itoa(n int) string { return strconv.Itoa(n) }

// field returns a member of the body.
func (x *exchange) field(path string) gjson.Result { return gjson.GetBytes(x.body, path) }

// answer decides what a request is answered with.
func (x *exchange) answer() (answer, *wire.Error) {
	switch {
	case isUpgrade(x.req):
		return upgradeRequired(), nil
	case x.broken != nil:
		return answer{}, x.fault(500, x.broken.Error())
	case x.route.action == actNone:
		return answer{}, x.noAddress()
	case !x.route.form:
		return answer{}, x.fault(405, "Method Not Allowed")
	case x.script.Bytes > 0 && len(x.body) > x.script.Bytes:
		return answer{}, x.tooBig()
	}
	if refused := x.authorise(); refused != nil {
		return answer{}, refused
	}
	switch x.route.action {
	case actModels:
		return x.models()
	case actModel:
		return x.model()
	case actVersion:
		return jsonAnswer(object("version", "0.0.0")), nil
	case actStored:
		return x.fetch()
	case actKept:
		return x.keep()
	}
	if refused := x.admit(); refused != nil {
		return answer{}, refused
	}
	switch x.route.action {
	case actCount:
		return x.counted(), nil
	case actCompact:
		return x.compact()
	}
	return x.reply()
}

// authorise checks the key, in the way in which each provider refuses one.
func (x *exchange) authorise() *wire.Error {
	x.account = keyOf(x.route.dialect, x.req)
	if x.route.dialect == native || x.script.Key == "" || x.account == x.script.Key {
		return nil
	}
	return x.badKey(x.account == "")
}

// admit reads the request and holds it against the rules of its dialect.
func (x *exchange) admit() *wire.Error {
	if x.route.dialect == messages && x.req.Header.Get("anthropic-version") == "" {
		return x.bad("anthropic-version: header is required", "")
	}
	if !json.Valid(x.body) { // it goes 10,000 levels deep, which all that reads the body can stand
		return x.notJSON()
	}
	if refused := x.recall(); refused != nil {
		return refused
	}
	if refused := x.recallKept(); refused != nil {
		return refused
	}
	if refused := x.check(); refused != nil {
		return refused
	}
	var err error
	if x.r, err = x.codec.DecodeRequest(x.body); err != nil {
		return x.bad(err.Error(), "")
	}
	if x.r.Model == "" {
		x.r.Model = x.route.model
	}
	if refused := x.thinking(); refused != nil {
		return refused
	}
	x.prompt = prefix.Of(x.r, x.count, x.salt())
	x.weigh()
	if refused := x.passed(); refused != nil {
		return refused
	}
	if refused := x.clear(); refused != nil {
		return refused
	}
	if x.route.action == actReply {
		x.summarise()
	}
	x.call.Request, x.call.Prompt = x.r, x.prompt.Tokens()
	return x.size()
}

// salt returns what else in the body changes how messages are read (Messages API: the tool
// that is forced, and whether the model thinks).
func (x *exchange) salt() string {
	return x.field("tool_choice").Raw + " " + x.field("thinking.type").Raw
}

// streams reports whether the reply is to be streamed.
func (x *exchange) streams() bool {
	switch x.route.dialect {
	case generate:
		return x.route.stream
	case native:
		stream := x.field("stream")
		return !stream.Exists() || stream.Bool()
	}
	return x.field("stream").Bool()
}
