// Package prompt orders the system prompt of a program, and chooses what of a request
// its provider is asked to keep.
//
// # Sections
//
// A system prompt is made of sections that change at different times. A provider's cache
// keeps the beginning of a prompt, so that what changes least stands first ([Slot]):
//
//	sections, err := prompt.Build([]prompt.Section{
//		prompt.Base.Section("You look after ships."),
//		prompt.Rules.Section(textOfAgentsFile),
//	})
//	if err != nil {
//		sections = prompt.Plain(all) // in the order that they came in, none of it marked
//	}
//
// The bytes are a function of the sections: no section's text depends on another one, so that
// the static part stays as it is whatever becomes of the dynamic one. [Changes] says which
// sections differ between two prompts.
//
// # Marks
//
// [Marks] is the one place that puts cache marks, by the provider's rule in the catalogue.
// Two stand still, at the ends of what never changes and of what changes seldom; two move
// with the conversation, so that each request finds what the one before has written:
//
//	[tools, base•][rules, memories•][skills, notes][ … last request•][ … this one•]
//
// The package reads no file and sends nothing. Who has sections of files reads them.
package prompt
