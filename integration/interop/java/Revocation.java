import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.zookeeper.KeeperException;

/** Requests the revocation of the holder of the node at the path. Prints "asked", or "not permitted". */
final class Revocation {
    private final Interop.Arguments arguments;

    Revocation(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    void run() throws Exception {
        try (CuratorFramework client = Clients.connect(arguments)) {
            Revoker.attemptRevoke(client, arguments.path);
            System.out.println("asked");
        } catch (KeeperException.NoAuthException refused) {
            System.out.println("not permitted");
        }
    }
}
