import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;

/** Connects to the server and waits for changes there. */
final class Clients {
    private Clients() {}

    /** How long an expected event may take. */
    static final int LIMIT_SECONDS = 120;

    /** Returns a client with its own session. */
    static CuratorFramework connect(Interop.Arguments arguments) throws Exception {
        CuratorFrameworkFactory.Builder builder = CuratorFrameworkFactory.builder();
        if (arguments.number("digest", 0) != 0) {
            builder.authorization("digest", "us:hunter2".getBytes(StandardCharsets.UTF_8));
        }
        CuratorFramework client = builder.connectString(arguments.server)
                .sessionTimeoutMs(arguments.number("session", 10_000))
                .connectionTimeoutMs(30_000)
                .retryPolicy(new ExponentialBackoffRetry(50, 5))
                .build();
        client.start();
        if (!client.blockUntilConnected(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no connection to " + arguments.server);
        }
        return client;
    }

    /** Waits until a node has that many children. */
    static void awaitChildren(CuratorFramework client, String path, int want) throws Exception {
        Semaphore changed = new Semaphore(0);
        while (true) {
            int have;
            try {
                have = client.getChildren()
                        .usingWatcher((Watcher) event -> changed.release())
                        .forPath(path)
                        .size();
            } catch (KeeperException.NoNodeException missing) {
                if (client.checkExists()
                                .usingWatcher((Watcher) event -> changed.release())
                                .forPath(path)
                        != null) {
                    continue;
                }
                have = 0;
            }
            if (have == want) {
                return;
            }
            if (!changed.tryAcquire(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException(path + " has " + have + " children, expected " + want);
            }
        }
    }
}
