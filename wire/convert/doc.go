// Package convert makes a request fit for another wire format than the one that wrote
// it, and says what that costs.
//
// Encoders write what their format has a form for and leave out the rest. Here the
// same is done beforehand and in the open: what the other format cannot carry is taken
// out of the request or put into the nearest form, names and ids that it does not take
// are replaced, and each of these is a [Loss]. What a format can carry is data
// ([catalog.Dialect]). An encoder of that format then finds nothing more to lose.
//
// What a provider refuses although its format has a place for it is data, too
// ([catalog.Refusals]): by model, such as the temperature, and by format, such as
// alternatives at the root of a schema. It is mended, or at least said.
//
// It decides nothing about what is sent beyond that, and it reads no bytes but those
// of media parts and of members that the neutral request does not have.
//
//	fit := convert.Request(r, known, convert.Options{Refused: refusals.Of(known.Name, model)})
//	body, err := codec.EncodeRequest(fit.Request)
//	reply = fit.Aliases.Restore(reply) // names and ids as the conversation has them
package convert
