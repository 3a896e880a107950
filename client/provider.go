package client

import (
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// A Provider says where models are and how they are asked. It is plain data, and holds
// no key but one that a program puts into a Credential. [Lookup] returns those that are
// known here; their fields may be changed.
type Provider struct {
	Name    string // the first half of provider/model
	Dialect llm.Dialect
	// BaseURL is what Paths stand below. Where its path ends as a path of Paths begins
	// (/v1), they overlap.
	BaseURL string
	// BaseEnv are environment variables that state another base URL; the first that is
	// set counts.
	BaseEnv []string
	Paths   Paths
	// Dated are the paths for requests with the query parameter api-version; zero if
	// they are the same.
	Dated       Paths
	Auth        Auth         // how a key is sent that the provider is given by its user
	Credentials []Credential // the first that is there is used
	KeyOptional bool         // requests may go without a key
	MaxTokens   bool         // of Chat: it knows the output's limit by its older name only, see [openai.Chat]
	Headers     map[string]string
	Query       map[string]string
	QueryEnv    map[string][]string // query parameters that environment variables state
	Model       string              // a small model to try the provider with; empty if none can be known
}

// Paths are a provider's addresses below its base URL. {model} stands for the model's
// name. An empty path says that the provider cannot do that.
type Paths struct {
	Complete, Stream string // of a whole reply, and of a streamed one
	Count            string // counts the tokens of a request
	Model            string // tells about a model
	Caches           string // makes explicit caches of the beginning of a prompt; they stand beside it by their names
}

// A Credential is a place where a key may be, and how it is sent. One of Env, Command
// and Key is set.
type Credential struct {
	Auth    Auth
	Env     string   // the environment variable that holds it
	Command []string // the program that prints it, and its arguments; no shell is involved
	Key     Secret   // the key itself, from a program; a file never holds one
}

// Auth says in which header a key is sent.
type Auth uint8

// The ways to send a key.
const (
	AuthBearer  Auth = iota + 1 // Authorization: Bearer KEY
	AuthXAPIKey                 // x-api-key
	AuthAPIKey                  // api-key
	AuthGoogle                  // x-goog-api-key
)

// header returns the name of the header and what stands before the key in it.
func (a Auth) header() (name, before string) {
	switch a {
	case AuthXAPIKey:
		return "X-Api-Key", ""
	case AuthAPIKey:
		return "Api-Key", ""
	case AuthGoogle:
		return "X-Goog-Api-Key", ""
	}
	return "Authorization", "Bearer "
}

// The paths of the dialects. Facts: the providers' API references.
var (
	anthropicPaths = Paths{Complete: "/v1/messages", Stream: "/v1/messages", Count: "/v1/messages/count_tokens", Model: "/v1/models/{model}"}
	chatPaths      = Paths{Complete: "/chat/completions", Stream: "/chat/completions"}
	responsesPaths = Paths{Complete: "/responses", Stream: "/responses"}
	geminiPaths    = Paths{
		Complete: "/v1beta/models/{model}:generateContent", Stream: "/v1beta/models/{model}:streamGenerateContent?alt=sse",
		Count: "/v1beta/models/{model}:countTokens", Model: "/v1beta/models/{model}",
		Caches: "/v1beta/cachedContents",
	}
	listed      = Paths{Complete: chatPaths.Complete, Stream: chatPaths.Stream, Model: "/models"} // a list of all models
	ollamaPaths = Paths{Complete: "/api/chat", Stream: "/api/chat", Model: "/api/show"}
)

// providers are the providers that are known here, and the environment variables that
// their own programs use. The order of credentials is that of trust: the special one
// before the general.
var providers = []Provider{
	{
		Name: "anthropic", Dialect: anthropic.Dialect, Auth: AuthXAPIKey, Model: "claude-haiku-4-5",
		BaseURL: "https://api.anthropic.com", BaseEnv: []string{"ANTHROPIC_BASE_URL"}, Paths: anthropicPaths,
		Credentials: []Credential{{Auth: AuthBearer, Env: "ANTHROPIC_AUTH_TOKEN"}, {Auth: AuthXAPIKey, Env: "ANTHROPIC_API_KEY"}},
		Headers:     map[string]string{"anthropic-version": "2023-06-01"},
	},
	{
		Name: "openai", Dialect: openai.DialectResponses, Auth: AuthBearer, Model: "gpt-5-mini",
		BaseURL: "https://api.openai.com/v1", BaseEnv: []string{"OPENAI_BASE_URL"}, Paths: responsesPaths,
		Credentials: []Credential{{Auth: AuthBearer, Env: "OPENAI_API_KEY"}},
	},
	{
		Name: "openai-chat", Dialect: openai.DialectChat, Auth: AuthBearer, Model: "gpt-5-mini",
		BaseURL: "https://api.openai.com/v1", BaseEnv: []string{"OPENAI_BASE_URL"}, Paths: chatPaths,
		Credentials: []Credential{{Auth: AuthBearer, Env: "OPENAI_API_KEY"}},
	},
	{
		Name: "openai-compatible", Dialect: openai.DialectChat, Auth: AuthBearer, // no key of another provider is sent to an address that can be any
		BaseEnv: []string{"OPENAI_COMPATIBLE_BASE_URL"}, Paths: listed,
		Credentials: []Credential{{Auth: AuthBearer, Env: "OPENAI_COMPATIBLE_API_KEY"}}, KeyOptional: true, MaxTokens: true,
	},
	{
		Name: "gemini", Dialect: gemini.Dialect, Auth: AuthGoogle, Model: "gemini-2.5-flash",
		BaseURL: "https://generativelanguage.googleapis.com", BaseEnv: []string{"GOOGLE_GEMINI_BASE_URL"}, Paths: geminiPaths,
		Credentials: []Credential{{Auth: AuthGoogle, Env: "GEMINI_API_KEY"}, {Auth: AuthGoogle, Env: "GOOGLE_API_KEY"}},
	},
	{
		Name: "ollama", Dialect: ollama.Dialect, Auth: AuthBearer,
		BaseURL: "http://127.0.0.1:11434", BaseEnv: []string{"OLLAMA_HOST"}, Paths: ollamaPaths,
		Credentials: []Credential{{Auth: AuthBearer, Env: "OLLAMA_API_KEY"}}, KeyOptional: true,
	},
	{
		Name: "openrouter", Dialect: openai.DialectChat, Auth: AuthBearer, Model: "openrouter/auto",
		BaseURL: "https://openrouter.ai/api/v1", BaseEnv: []string{"OPENROUTER_BASE_URL"},
		Paths:       listed,
		Credentials: []Credential{{Auth: AuthBearer, Env: "OPENROUTER_API_KEY"}}, MaxTokens: true,
	},
	{
		Name: "azure", Dialect: openai.DialectChat, Auth: AuthAPIKey,
		BaseEnv: []string{"AZURE_OPENAI_ENDPOINT"}, QueryEnv: azureVersion, Credentials: azureKeys,
		Paths: Paths{Complete: "/openai/v1/chat/completions", Stream: "/openai/v1/chat/completions"},
		Dated: Paths{Complete: "/openai/deployments/{model}/chat/completions", Stream: "/openai/deployments/{model}/chat/completions"},
	},
	{
		Name: "azure-responses", Dialect: openai.DialectResponses, Auth: AuthAPIKey,
		BaseEnv: []string{"AZURE_OPENAI_ENDPOINT"}, QueryEnv: azureVersion, Credentials: azureKeys,
		Paths: Paths{Complete: "/openai/v1/responses", Stream: "/openai/v1/responses"},
		Dated: Paths{Complete: "/openai/responses", Stream: "/openai/responses"},
	},
}

var (
	azureVersion = map[string][]string{"api-version": {"AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION"}}
	azureKeys    = []Credential{{Auth: AuthAPIKey, Env: "AZURE_OPENAI_API_KEY"}, {Auth: AuthBearer, Env: "AZURE_OPENAI_AD_TOKEN"}}
)

// Lookup returns the provider of that name. The copy is the caller's.
func Lookup(name string) (Provider, bool) {
	i := slices.IndexFunc(providers, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	p := providers[i]
	p.BaseEnv, p.Credentials = slices.Clone(p.BaseEnv), slices.Clone(p.Credentials)
	p.Headers, p.Query, p.QueryEnv = maps.Clone(p.Headers), maps.Clone(p.Query), maps.Clone(p.QueryEnv)
	return p, true
}

// UseKey makes p send this key and no other, in the way of its kind: from an environment
// variable, if env is not empty, else as a program prints it.
func (p *Provider) UseKey(env string, command []string) {
	p.Credentials = []Credential{{Auth: p.Auth, Env: env, Command: command}}
	p.KeyOptional = false
}

// Names returns the names that [Lookup] knows.
func Names() []string {
	names := make([]string, len(providers))
	for i, p := range providers {
		names[i] = p.Name
	}
	return names
}

// Split parts a name such as openrouter/maker/model at the first slash. ok is false if
// one half is missing.
func Split(name string) (provider, model string, ok bool) {
	provider, model, _ = strings.Cut(name, "/")
	return provider, model, provider != "" && model != ""
}
