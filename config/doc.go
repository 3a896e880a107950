// Package config reads what a person wrote: settings (plimsoll.yaml) and policies, in
// YAML, TOML or JSON. It turns them into what the core understands and says, with file,
// line and column, everything that is wrong. It decides nothing and holds no
// defaults; those are core/policy's.
//
// # Settings
//
// [FindSettings] reads the files of the working folder and of the user, [LoadSettings]
// one that is named; [Settings] lists what they may say. [Settings.Resolve] says what
// holds for a model under a policy, each value with where it came from: override, model,
// provider, what is known of the model, defaults, policy. Of what it returns a
// program gives [Resolved.Window] to a target of its session, has [Resolved.ApplyTo] change
// its policy, and filters its tools with [Resolved].Tools. docs/configuration.md has the code.
//
// # Policy files
//
// A file states the fields of policy.Policy. In it
//
//   - a share may be written in permille (800), as a decimal with at most three
//     digits after the point (0.8, 2.09) or in percent (80%, 92.5%);
//   - a number of tokens may end in k (1,000) or m (1,000,000), small or capital, as
//     128k; a number of bytes may not, because there k could mean 1,024;
//   - extends names a preset to start from. Fields that are stated replace the
//     preset's, objects member by member, lists as a whole. A rule whose name the
//     preset has changes that rule; any other is added behind the preset's.
//     without lists rules of the preset to leave out. The policy is called
//     PRESET-custom unless it states a name.
//
// Of a file of either sort nothing is read but the file itself: anchors, aliases, tags and several
// documents in one YAML file are refused, and no field names another file.
package config
