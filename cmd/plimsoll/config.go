package main

import (
	"github.com/spf13/cobra"
)

func newConfig(s streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check the settings, and show each with where it came from",
		Long: `Settings are in plimsoll.yaml or plimsoll.toml in the working folder, and in the
configuration folder of the user. They state windows, room for the reply, tokenizers
and how providers are reached:

  model: team/our-model              # that ask takes
  providers:
    team:
      kind: openai                   # anthropic, gemini, ollama, …
      baseURL: https://gateway.example/v1
      keyEnv: TEAM_API_KEY           # or keyCommand: [pass, show, llm/team]
      models: {our-model: {contextWindow: 64k, maxOutputTokens: 8192}}
  models:
    our-model: {window: 64k, family: openai, prices: {input: 1.5, output: 6}}
  defaults: {toolResponseMaxBytes: 12288}

A key is never in a file, and a file in the working folder names no other machine. All
fields are in docs/configuration.md, docs/providers.md and docs/models.md.`,
		Args: noSuchCommand,
		RunE: showHelp,
	}
	cmd.AddCommand(newConfigCheck(s), newConfigShow(s))
	return cmd
}
