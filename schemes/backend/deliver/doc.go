// Package deliver sends what the services owe to somebody else's endpoint: webhooks, notifications. It knows bytes
// and addresses, no service.
//
// It owns the hooks a subject registered, the messages, one delivery per message and hook, and every attempt. It
// guarantees:
//   - A message is queued in the commit of what it tells about, or not at all; only for hooks that name its event.
//   - Every attempt of a delivery carries the same id and the same body, and the endpoint's registered Authorization
//     value, which is sealed at rest.
//   - Only status 200 acknowledges. A failed attempt is followed by the next one after the schedule's interval,
//     measured from the start of the failed one, and by none when the schedule has ended: the delivery is dead then,
//     and stays in the list until it is replayed or its retention ends.
//   - Deliveries survive the end of the process: at least once, in no promised order.
//   - Nothing is ever sent to an address that is not public: the name is resolved once per attempt, every address is
//     checked and the checked address is dialled. Redirects are not followed, proxies not used, replies not trusted.
//   - A slow endpoint holds back its own deliveries only.
//
// It must not import a service or another room of the backend.
//
// Decisions:
//
// 2026-11-21: "at most 10 retries" (S0 6.1) are the first ten intervals of the list: eleven tries in all, the last one
// 257 minutes after the first.
//
// 2026-11-21: an attempt that the end of the process cut off is made again at once and counted once.
//
// 2026-11-21: an endpoint (scheme, host and port) that let twenty deliveries die in a row is paused for an hour: what is
// due moves to the end of the pause. A 200 or Resume ends it early.
//
// 2026-11-21: Options.Allow names hosts that may have a private address and plain http, as "host:port", or "host" for every
// port of it. Nothing else lifts the guard.
//
// 2026-11-21: Emit only hints to Run that something comes; what it queued is seen when the caller's commit is. Run looks
// several times within half a minute, and once an hour without any hint.
//
// 2026-11-21: the wall clock decides what is due. One that jumps forward sends early, one that jumps back sends late.
//
// 2026-11-21: hooks registered again replace the subject's earlier ones; what is queued keeps its own.
package deliver
