// Package backend opens and wires the embedded backend: the services of S0, S1 and S2 over one durable store with real
// books.
//
// It owns the directory it is given: backend.db, backend.key. It guarantees that nothing is answered before it is
// durable, and that the fixed test credentials are the only ones there are unless others are configured.
//
// It must not import agent, ecr, device or cmd; the agent cannot tell it from a remote backend.
//
// Decisions:
//
// 2026-11-21: credentials of the scheme and terminal services: Bearer base64(consumer_key:consumer_secret), Bearer
// base64(client_id:client_secret), the static bearer, or a token from POST /token or [/tenant]/oauth2/v2.0/token (client
// credentials by Basic header or form fields; urlencoded or multipart). Tokens last an hour and survive a restart.
//
// 2026-11-21: an Origin or Referer on a service route is refused with 403: no browser has business there.
//
// 2026-11-21: an entry's id is a text for every service, its amount and postings are minor units.
//
// 2026-11-21: deliveries to others' endpoints are listed, replayed and resumed below /backend/v1/hooks (HooksPrefix), with
// the bearer credentials of the services; the lists are read from the file too, beside a running backend.
//
// 2026-11-21: payment links are called under the account's signature alone (S1 5), which their Handler checks; their webhooks
// go to one address of the configuration and are signed with the same secret.
//
// 2026-11-21: the key file is the backend's own; a box's device key never wraps it.
package backend
