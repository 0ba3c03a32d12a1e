package contracts

// examples are bodies of requests that the services take, by operation.
var examples = map[string]string{
	"payments.create": `{"type":"ProviderHostedEcom","amount":1250,"currencyCode":"EUR","processing":"Authorize","paymentNumber":"order7",` +
		`"redirectUrls":{"returnUrl":"https://shop.example/thanks"}}`,
	"payments.authorize": `{"amount":1250}`,
	"payments.cancel":    `{"description":"out of stock"}`,
	"payments.capture":   `{"amount":1250}`,
	"payments.refund":    `{"amount":250,"description":"one item came back"}`,

	"tokens.create": `{"description":"card of the subscription","returnUrl":"https://shop.example/thanks",` +
		`"cardDetails":{"pan":"4111111111111111","expiryYear":2031,"expiryMonth":12,"validationCode":"123"}}`,
	"tokens.recurring": `{"recurringType":"Subscription","amount":1250,"currencyCode":"EUR","recurringExpiryDate":"2031-12-31","recurringFrequency":28,` +
		`"returnUrl":"https://shop.example/thanks"}`,

	"onboarding.create": `{"reference":"our-7","merchant":{"registrationNumber":"12345678","companyName":"Shop ApS","contactFirstName":"Ada",` +
		`"contactLastName":"Holm","address":{"address1":"Torvet 1","city":"Aarhus","postalCode":"8000","countryCode":"DK"},` +
		`"email":"ada@shop.example","phone":"+4512345678"}}`,
	"onboarding.update":  `{"reference":"our-7","merchant":{"registrationNumber":"12345678","companyName":"Shop ApS","email":"ada@shop.example"}}`,
	"onboarding.submit":  `{}`,
	"onboarding.sandbox": `{}`,

	"aapay.initialize": `{"merchantId":"B1","method":"SWISH_E_COM","purchaseAmount":{"currencyCode":"EUR","vatAmount":0,"nominalAmount":1250,"totalAmount":1250},` +
		`"consumer":{"consumerId":"","name":""},"terminalReference":"sale-7","originalReference":"sale-6","trigger":"2"}`,

	"hosted.build": `{"merchantUrl":"https://shop.example","order":{"orderId":"order7","amount":"1250","currency":"EUR"},` +
		`"paymentSession":{"actionType":"PAY","amount":"1250","language":"eng","resultUrl":"https://shop.example/result",` +
		`"cancelUrl":"https://shop.example/cancel","notificationUrl":"https://shop.example/notify"},"version":"3"}`,
	"hosted.finalize": `{"sessionId":"052211e8-54c8-4e0a-8402-e10bcb8ff264"}`,
	"hosted.cancel":   `{"sessionId":"052211e8-54c8-4e0a-8402-e10bcb8ff264"}`,
	"hosted.capture":  `{"amount":"1250","currency":"EUR"}`,
	"hosted.refund":   `{"amount":"250","currency":"EUR","description":"one item came back"}`,
	"hosted.undo":     `{"description":"out of stock"}`,

	"paylinks.create": `{"title":"Order 7","description":"One chair","referenceId":"order-7","purpose":"One chair","amount":1250,"currency":"EUR",` +
		`"successRedirectUrl":"https://shop.example/thanks"}`,
	"paylinks.charge": `{"amount":1250,"purpose":"One chair"}`,
	"paylinks.refund": `{"amount":250}`,

	"disputes.create": `{"providerTransactionID":"0193a5b27c1a7b3e9a524d1f0c2b8e77","providerDisputeReasonCode":"D019","disputeAmount":1250,` +
		`"disputeCurrency":"EUR","notes":"the goods never came"}`,
	"disputes.list":   `{"disputeCreatedDate":"2026-11-22","numberOfDisputeCases":50}`,
	"disputes.queue":  `{"queueID":1000,"isOpen":"Y"}`,
	"disputes.update": `{"notes":"the shop has answered","submitDispute":"Y"}`,

	"hooks.webhook": `{"id":"0193a5b27c1a7b3e9a524d1f0c2b8e77","merchantNumber":100000001,"timestamp":"2026-11-22T10:00:00.0000+00:00",` +
		`"event":"payment.charge.created.v2","data":{"paymentId":"0193a5b27c1a7b3e9a524d1f0c2b8e78","chargeId":"0193a5b27c1a7b3e9a524d1f0c2b8e79",` +
		`"paymentMethod":"Visa","paymentType":"CARD","amount":{"amount":1250,"currency":"EUR"},"orderItems":[{"reference":"1","name":"Chair",` +
		`"quantity":1,"unit":"pcs","unitPrice":1250,"taxRate":0,"taxAmount":0,"netTotalAmount":1250,"grossTotalAmount":1250}]}}`,
	"hooks.notification": `{"eventId":"7","eventTime":"2026-11-22T10:00:00Z","securityToken":"SECURITY_TOKEN","operation":{"orderId":"order7",` +
		`"operationId":"1234","operationType":"AUTHORIZATION","operationResult":"EXECUTED","warnings":[],"additionalData":{}}}`,
	"access.token":  `{"grant_type":"client_credentials","client_id":"till","client_secret":"the-token"}`,
	"access.oauth2": `{"grant_type":"client_credentials","client_id":"till","client_secret":"the-token"}`,
}

// Example returns an example of the body of an operation's request, "" = there is none.
func Example(op string) string { return examples[op] }
