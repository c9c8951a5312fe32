#pmlogconf-setup 2.0
ident	kmmv_profile alone: where the CPUs' time goes (kmmv/value has it, too)
probe	kmmv.value.profile.samples exists ? available : exclude
	kmmv.value.profile
	kmmv.all.profile
