// Package payments is the contract with the payment service (S0 1 to 4.1): create, authorize, cancel, capture,
// refund and read a payment.
package payments
