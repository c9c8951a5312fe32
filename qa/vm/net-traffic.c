// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic for net-check: frames that are sent through a device, and devices that come, get
 * some, and go.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net-traffic.h"

/* ---- send */

void send_frames(const char *device, int frames, size_t size)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_halen = ETH_ALEN };
	static int fd = -1;
	static struct {
		struct ether_header head;
		char payload[9000];
	} frame;

	if (fd < 0)
		fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (fd < 0)
		err(2, "socket");
	to.sll_ifindex = if_nametoindex(device);
	if (!to.sll_ifindex)
		err(2, "%s", device);
	frame.head.ether_type = htons(0x88b5); /* for experiments */
	memset(frame.head.ether_dhost, 2, ETH_ALEN);
	while (frames--) {
		if (sendto(fd, &frame, size, 0, (struct sockaddr *)&to, sizeof(to)) >= 0)
			continue;
		if (errno != ENOBUFS)
			err(2, "send to %s", device);
		frames++;
	}
}

void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(2, "CPU %d", cpu);
}

/* ---- churn: netlink, as thousands of processes would take an hour */

static struct {
	struct nlmsghdr head;
	struct ifinfomsg info;
	char attributes[512];
} request;

static struct rtattr *put(int type, const void *data, size_t size)
{
	struct rtattr *a = (void *)((char *)&request + NLMSG_ALIGN(request.head.nlmsg_len));

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(a), data, size);
	request.head.nlmsg_len = NLMSG_ALIGN(request.head.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

static void end_nest(struct rtattr *a)
{
	a->rta_len = (char *)&request + request.head.nlmsg_len - (char *)a;
}

static void begin_request(int type, int flags)
{
	memset(&request, 0, sizeof(request));
	request.head.nlmsg_len = NLMSG_LENGTH(sizeof(request.info));
	request.head.nlmsg_type = type;
	request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
}

static void do_request(const char *what)
{
	static int fd = -1;
	static char answer[32768];
	struct nlmsghdr *head = (void *)answer;
	struct nlmsgerr *error = NLMSG_DATA(head);

	if (fd < 0)
		fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (fd < 0 || send(fd, &request, request.head.nlmsg_len, 0) < 0 ||
	    recv(fd, answer, sizeof(answer), 0) < 0)
		err(2, "netlink");
	if (head->nlmsg_type != NLMSG_ERROR || error->error) {
		errno = -error->error;
		err(2, "%s", what);
	}
}

/* Those that are made are in this group, and are removed with it. */
#define GROUP	4242
#define BATCH	100
#define HANG	600000	/* ms */

static void make_veth(const char *name, const char *peer)
{
	struct rtattr *info, *data, *other;
	struct ifinfomsg none = {};
	uint32_t group = GROUP;

	begin_request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	put(IFLA_IFNAME, name, strlen(name) + 1);
	put(IFLA_GROUP, &group, sizeof(group));
	info = put(IFLA_LINKINFO, NULL, 0);
	put(IFLA_INFO_KIND, "veth", 5);
	data = put(IFLA_INFO_DATA, NULL, 0);
	other = put(VETH_INFO_PEER, &none, sizeof(none));
	put(IFLA_IFNAME, peer, strlen(peer) + 1);
	end_nest(other);
	end_nest(data);
	end_nest(info);
	do_request(name);
}

static void set_up(const char *name)
{
	begin_request(RTM_NEWLINK, 0);
	request.info.ifi_flags = IFF_UP;
	request.info.ifi_change = IFF_UP;
	put(IFLA_IFNAME, name, strlen(name) + 1);
	do_request(name);
}

static void remove_group(void)
{
	uint32_t group = GROUP;

	begin_request(RTM_DELLINK, 0);
	put(IFLA_GROUP, &group, sizeof(group));
	do_request("the group");
}

/*
 * A frame of an unknown protocol is dropped some time after it was sent, or is not
 * counted if its device goes before.
 */
static void wait_for_drops(const char *device, int frames)
{
	char path[100];
	int dropped, ms;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/rx_dropped", device);
	for (ms = 0; ms < HANG; ms++) {
		file = fopen(path, "r");
		if (!file || fscanf(file, "%d", &dropped) != 1)
			err(2, "%s", path);
		fclose(file);
		if (dropped >= frames)
			return;
		usleep(1000);
	}
	errx(2, "%s has dropped %d frames of %d", device, dropped, frames);
}

void churn(const char *base, unsigned int from, unsigned int to, int frames, bool all)
{
	char name[32], peer[32];
	unsigned int i, last;

	for (; from < to; from = last) {
		last = from + BATCH < to ? from + BATCH : to;
		for (i = from; i < last; i++) {
			snprintf(name, sizeof(name), "%.4s%u", base, i);
			snprintf(peer, sizeof(peer), "%.4sp%u", base, i);
			make_veth(name, peer);
			set_up(peer);
			set_up(name);
			send_frames(name, frames, 60);
		}
		for (i = from; all && i < last; i++) {
			snprintf(peer, sizeof(peer), "%.4sp%u", base, i);
			wait_for_drops(peer, frames);
		}
		remove_group();
	}
}
