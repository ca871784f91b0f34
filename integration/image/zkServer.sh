#!/bin/sh
# Runs a ZooKeeper server in the foreground: the one thing that is needed of the official image's zkServer.sh.
set -e

if [ "$1" != start-foreground ]; then
	echo "usage: zkServer.sh start-foreground" >&2
	exit 2
fi
# The flags are words separated by blanks.
# shellcheck disable=SC2086
exec /opt/java/bin/java -Dzookeeper.jmx.log4j.disable=true \
	-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.NIOServerCnxn=warn $SERVER_JVMFLAGS $JVMFLAGS \
	-cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar:/usr/share/java/servlet-api.jar:/usr/share/java/netty-codec.jar \
	org.apache.zookeeper.server.quorum.QuorumPeerMain "${ZOO_CONF_DIR:-/conf}/zoo.cfg"
