package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// providers are words that name a provider or a family of models. The core decides by what the catalogue says about a model, never by
// whose it is; so these words stand in data (the catalogue, the vocabularies, the preset files) and outside the core.
const providers = `
	anthropic bedrock chatgpt claude deepseek gemini google gpt grok groq llama mistral moonshot openai openrouter qwen vertexai
`

// estimators are the names by which configurations ask for a token estimate: package token has to know them. A name
// that ends in a colon is followed by a model.
const estimators = "anthropic claude claude: gemini google:gemini google-gemini tiktoken:"

// Packages whose content is about providers.
const providerData = "core/catalog core/token/bpe"

// providerNames finds provider names in identifiers and strings. Comments and import paths are free.
func providerNames(u *unit) []string {
	if slices.Contains(strings.Fields(providerData), floor(u.path)) {
		return nil
	}
	var faults []string
	for _, s := range u.shipped() {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Ident:
				if word := provider(n.Name); word != "" {
					faults = append(faults, providerFault(u, n, word))
				}
			case *ast.BasicLit:
				if word := inString(u, n); word != "" {
					faults = append(faults, providerFault(u, n, word))
				}
			}
			return true
		})
	}
	return faults
}

func providerFault(u *unit, n ast.Node, word string) string {
	return fmt.Sprintf("%s: core, want no provider's name (it belongs in the catalogue), got %q", u.at(n.Pos()), word)
}

// provider returns the provider's name that a text contains, or nothing.
func provider(text string) string {
	text = strings.ToLower(text)
	for _, p := range strings.Fields(providers) {
		if strings.Contains(text, p) {
			return p
		}
	}
	return ""
}

// inString looks into a string literal. In package token the ids of estimators are no fault.
func inString(u *unit, lit *ast.BasicLit) string {
	if lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	if u.path != "core/token" {
		return provider(text)
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n,;|\"'`()*", r) }) {
		if p := provider(word); p != "" && !isEstimator(word) {
			return p
		}
	}
	return ""
}

// isEstimator reports whether a word is the id of an estimator.
func isEstimator(word string) bool {
	for _, id := range strings.Fields(estimators) {
		if word == id || strings.HasSuffix(id, ":") && strings.HasPrefix(word, id) {
			return true
		}
	}
	return false
}

func TestProviderNames(t *testing.T) { hold(t, providerNames, inCore) }

func TestProviderNamesCatches(t *testing.T) {
	catch(t, providerNames, []sample{
		{name: "identifier", text: "package x\n\nfunc isOpenAI() {}\n", want: `got "openai"`},
		{name: "field", text: "package x\n\ntype T struct{ anthropicCache int }\n", want: `got "anthropic"`},
		{name: "string", text: "package x\n\nconst a = \"gpt-4o\"\n", want: `got "gpt"`},
		{name: "raw string", text: "package x\n\nconst a = `models/Gemini`\n", want: `got "gemini"`},
		{name: "struct tag", text: "package x\n\ntype T struct {\n\tA int `json:\"mistral\"`\n}\n", want: `got "mistral"`},
		{name: "comment", text: "package x\n\n// A is as openai does it.\nconst a = 1\n"},
		{name: "catalogue", file: "core/catalog/x.go", text: "package catalog\n\nconst a = \"claude\"\n"},
		{name: "vocabulary", file: "core/token/bpe/x.go", text: "package bpe\n\nconst a = \"gpt\"\n"},
		{name: "estimator id", file: "core/token/x.go", text: "package token\n\nconst a = \"google:gemini\"\n"},
		{name: "estimator with a model", file: "core/token/x.go", text: "package token\n\nconst a = \"want claude:* or tiktoken:gpt-4o\"\n"},
		{name: "estimator elsewhere", text: "package x\n\nconst a = \"google:gemini\"\n", want: `got "gemini"`},
		{name: "model in token", file: "core/token/x.go", text: "package token\n\nconst a = \"claude-3\"\n", want: `got "claude"`},
		{name: "identifier in token", file: "core/token/x.go", text: "package token\n\nconst claude = 1\n", want: `got "claude"`},
	})
}
