import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.data.Stat;

/** Connects to the server, and counts the contenders of a path over a connection of its own. */
final class Clients implements AutoCloseable {
    private final String server;
    private final int session;
    final CuratorFramework first;
    private CuratorFramework counting;

    Clients(String server, int session) throws Exception {
        this.server = server;
        this.session = session;
        first = connect();
    }

    CuratorFramework connect() throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(server)
                .sessionTimeoutMs(session)
                .connectionTimeoutMs(30_000)
                .retryPolicy(new ExponentialBackoffRetry(50, 5))
                .build();
        client.start();
        if (!client.blockUntilConnected(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no connection to " + server);
        }
        return client;
    }

    /** Returns when a path has so many contenders. */
    void await(String path, int total, long limitMillis) throws Exception {
        for (long start = System.nanoTime(); ; Thread.sleep(10)) {
            int have = contenders(path);
            if (have >= total) {
                return;
            }
            if (limitMillis > 0 && System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(limitMillis)) {
                throw new IllegalStateException(have + " of " + total + " are queued after " + limitMillis + " ms");
            }
        }
    }

    /** Counts them, over a connection that is made when it is first needed. */
    int contenders(String path) throws Exception {
        if (counting == null) {
            counting = connect();
        }
        Stat stat = counting.checkExists().forPath(path);
        return stat == null ? 0 : stat.getNumChildren();
    }

    @Override
    public void close() {
        first.close();
        if (counting != null) {
            counting.close();
        }
    }
}
