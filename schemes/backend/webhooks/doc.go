// Package webhooks sends webhooks and notifications to a merchant's endpoints. It handles bytes and
// addresses, no service. schedule.go has the intervals of the retries.
//
// It owns the hooks that a subject registered, the messages, one delivery per message and hook,
// and each attempt. It guarantees:
//   - A message is queued in the commit of its cause, or not at all, and only for hooks that name
//     its event.
//   - Each attempt of a delivery has the same id, the same body and the endpoint's registered
//     Authorization value, which is sealed at rest.
//   - Only status 200 acknowledges. After a failed attempt the next one follows by the schedule's
//     interval, measured from the start of the failed one. When the schedule has ended, the
//     delivery is dead (a dead letter): it stays in the list until a replay or the end of its
//     retention.
//   - Deliveries survive the end of the process: at least once. A retry comes in no promised order.
//   - No request goes to an address that is not public. The name is resolved once per attempt, each
//     address is checked, and the checked address is dialled. Redirects are not followed, proxies
//     are not used, replies are not trusted.
//   - A slow endpoint delays only its own deliveries. An attempt without a reply holds no sender, and
//     an endpoint whose last try timed out has one attempt at a time.
//   - The first tries of one subject's messages reach an endpoint in their order.
//
// It must not import a service or another room of the backend.
package webhooks
