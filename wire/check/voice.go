package check

import (
	"fmt"
	"strconv"
	"strings"
)

// A voice is how a provider names places and says what is wrong with a value. Sources: the providers' error bodies as they stand in public
// issue threads; what no thread shows is put in the same style.
type voice interface {
	index(at string, i int) string
	malformed(err error) string
	missing(at string) string
	mistyped(at, want, got string) string
	outside(at, got string, values []string) string
}

// dots is the voice of Anthropic: messages.0.content.
type dots struct{}

func (dots) index(at string, i int) string { return at + "." + strconv.Itoa(i) }
func (dots) malformed(err error) string    { return "The request body is not valid JSON: " + err.Error() }
func (dots) missing(at string) string      { return at + ": Field required" }

func (dots) mistyped(at, want, _ string) string {
	if want == "object" {
		want = "dictionary"
	}
	return at + ": Input should be a valid " + want
}

func (dots) outside(at, _ string, values []string) string {
	return fmt.Sprintf("%s: Input should be %s", at, quoted(values, " or "))
}

// brackets is the voice of OpenAI: messages[0].content.
type brackets struct{}

func (brackets) index(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }
func (brackets) missing(at string) string      { return "Missing required parameter: '" + at + "'." }

func (brackets) malformed(error) string {
	return "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The API expects a JSON payload, but what was sent was not valid JSON.)"
}

func (brackets) mistyped(at, want, got string) string {
	return fmt.Sprintf("Invalid type for '%s': expected %s, but got %s instead.", at, article(want), article(got))
}

func (brackets) outside(_, got string, values []string) string {
	return fmt.Sprintf("Invalid value: '%s'. Supported values are: %s.", got, quoted(values, " and "))
}

// rpc is the voice of Google's APIs: contents[0].parts[0].
type rpc struct{}

func (rpc) index(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }
func (rpc) malformed(err error) string    { return "Invalid JSON payload received. " + err.Error() }
func (rpc) missing(at string) string {
	return "* GenerateContentRequest." + at + ": " + at + " is not specified\n"
}

func (rpc) mistyped(at, want, got string) string {
	return fmt.Sprintf("Invalid value at '%s' (%s), got %s", at, article(want), article(got))
}

func (rpc) outside(at, got string, values []string) string {
	return fmt.Sprintf("Invalid value at '%s' (want one of %s), %q", at, quoted(values, ", "), got)
}

// gopher is the voice of Ollama, whose server unmarshals into Go structs.
type gopher struct{}

func (gopher) index(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }
func (gopher) malformed(err error) string    { return err.Error() }
func (gopher) missing(at string) string      { return at + " is required" }

func (gopher) mistyped(at, want, got string) string {
	return fmt.Sprintf("json: cannot unmarshal %s into Go struct field ChatRequest.%s of type %s", got, at, want)
}

func (gopher) outside(at, got string, values []string) string {
	return fmt.Sprintf("%s: want one of %s, got %q", at, quoted(values, ", "), got)
}

// article puts an indefinite article before a JSON type, named as OpenAI and Google name them.
func article(kind string) string {
	switch kind {
	case "list":
		return "an array"
	case "object", "integer":
		return "an " + kind
	case "null":
		return kind
	}
	return "a " + kind
}

// quoted lists values in single quotes, the last joined by another word.
func quoted(values []string, last string) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = "'" + v + "'"
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + last + list[len(list)-1]
}
