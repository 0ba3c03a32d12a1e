package fleet

// example is a request that the service reads; its code was never made.
const example = `{"code":"7K3M-9QXD-2PV","csr":"-----BEGIN CERTIFICATE REQUEST-----\n` +
	`MIGRMEUCAQAwEjEQMA4GA1UEAxMHUEEtMDAwMTAqMAUGAytlcAMhAOpKbGPinFIK\n` +
	`vvVQexMuxfmVR3auvr57kkIe6mkURtIsoAAwBQYDK2VwA0EAFV2yqRbFrx2YG62A\n` +
	`QNAefnlgIP0p6Aj1I0fTjCPXGSSZth+A52t7yeCEtCJ/PKyfMyR7EoNwksPWE6Ox\n` +
	`fLhsBw==\n` +
	`-----END CERTIFICATE REQUEST-----\n","serialNumber":"PA-0001","version":"2026.11.23"}`
