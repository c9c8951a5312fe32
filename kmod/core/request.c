// SPDX-License-Identifier: GPL-2.0-only
/* Completions of block requests; the rules are in request.h. */
#include "request.h"

static bool is_last(const struct kmmv_request *request)
{
	return !request->data || request->completed >= request->left;
}

static unsigned int operation(const struct kmmv_request *request)
{
	if (request->accounted)
		return request->ends_apart ? 0 : KMMV_REQUEST_OPERATION |
						 KMMV_REQUEST_TIME;
	return KMMV_REQUEST_OPERATION;
}

/**
 * kmmv_request_counts() - tell what a completion counts for
 * @request: the completion
 *
 * Context: any.
 * Return: KMMV_REQUEST_*.
 */
unsigned int kmmv_request_counts(const struct kmmv_request *request)
{
	unsigned int counts = 0;

	if (request->passthrough && !request->accounted)
		return is_last(request) ? KMMV_REQUEST_PASSTHROUGH : 0;
	if (request->flush && request->sequence)
		return KMMV_REQUEST_FLUSH |
		       (request->failed ? KMMV_REQUEST_ERROR : 0);
	if (request->data)
		counts |= KMMV_REQUEST_BYTES;
	if (request->sequence)
		return counts;
	if (is_last(request) && !request->ended)
		counts |= operation(request);
	if (request->failed)
		counts |= KMMV_REQUEST_ERROR;
	return counts;
}
