// Package proxytest holds the proxy against what is known to go wrong between clients and
// providers. But for [Log], which tests of the proxy share, it has tests only:
//
//   - failures of other proxies that were reported in public, a scenario for each that can
//     occur here (TestPublicFailures, named by repository and number; docs/proxy.md has the
//     others);
//   - the program itself, killed between and within exchanges, on a file that is locked,
//     and on a disk that is full;
//   - bodies and answers that nobody should send.
//
// PLIMSOLL_KILLS is how many made-up conversations the program is killed in; 20 without it.
package proxytest
