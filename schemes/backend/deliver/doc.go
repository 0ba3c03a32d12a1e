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
package deliver
