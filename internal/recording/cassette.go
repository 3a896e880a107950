package recording

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// cassette reads a YAML cassette.
func cassette(text []byte) ([]Exchange, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) != 1 {
		return nil, fmt.Errorf("cassette, want one document, got %d", len(file.Docs))
	}
	list, ok := member(file.Docs[0].Body, "interactions").(*ast.SequenceNode)
	if !ok || len(list.Values) == 0 {
		return nil, errors.New("cassette, want interactions, got none")
	}
	var out []Exchange
	for i, node := range list.Values {
		e, err := recorded(member(node, "request"), member(node, "response"))
		if err != nil {
			return nil, fmt.Errorf("interaction %d: %w", i, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// recorded reads one call. The cassettes name the URL url or uri and the status code, status or status.code.
func recorded(request, response ast.Node) (Exchange, error) {
	var e Exchange
	address := str(member(request, "uri"))
	if address == "" {
		address = str(member(request, "url"))
	}
	e.address(address)
	code := member(response, "code")
	if code == nil {
		code = member(member(response, "status"), "code")
	}
	var err error
	if e.Status, err = strconv.Atoi(str(code)); err != nil {
		return e, fmt.Errorf("status: %w", err)
	}
	if e.Request, err = body(request); err != nil {
		return e, fmt.Errorf("request: %w", err)
	}
	if e.Response, err = body(response); err != nil {
		return e, fmt.Errorf("response: %w", err)
	}
	// A stream without alt=sse is a list whose elements come one by one.
	e.Stream = isEventStream(header(response, "content-type")) || strings.HasSuffix(e.Path, ":streamGenerateContent")
	return e, nil
}

// isEventStream reports whether a content type is that of server-sent events.
func isEventStream(contentType string) bool {
	return strings.HasPrefix(contentType, "text/event-stream")
}

// body reads the body of a request or a response, decompressed; nil if there is none.
func body(node ast.Node) ([]byte, error) {
	if parsed := member(node, "parsed_body"); parsed != nil {
		return appendJSON(nil, parsed)
	}
	raw := member(node, "body")
	if text := member(raw, "string"); text != nil {
		raw = text
	}
	data, err := content(raw)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	return unpack(data, header(node, "content-encoding"))
}

// header returns the first value of a header, whose name may be written in any case.
func header(node ast.Node, name string) string {
	for key, value := range members(member(node, "headers")) {
		if !strings.EqualFold(str(key), name) {
			continue
		}
		if list, ok := value.(*ast.SequenceNode); ok {
			if len(list.Values) == 0 {
				return ""
			}
			value = list.Values[0]
		}
		return str(value)
	}
	return ""
}
