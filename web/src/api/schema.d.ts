// Generated from the OpenAPI document by npm run types; edits here are lost.

export interface paths {
    "/api/v1/auth/register": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["registerAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["signIn"];
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/content/notices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listNotices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/content/pages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/content/pages/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDomains"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/integrations/bankpay/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["reportBankTransaction"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["streamKeyEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/mailboxes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listKeyMailboxes"];
        put?: never;
        post: operations["createKeyMailbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/mailboxes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["destroyKeyMailbox"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/mailboxes/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listKeyMailDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/mailboxes/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listKeyMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/keys/mailboxes/{id}/otp/latest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getKeyLatestOtp"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mailboxes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createMailbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mailboxes/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMailbox"];
        put?: never;
        post?: never;
        delete: operations["destroyMailbox"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mailboxes/me/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMailDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mailboxes/me/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["streamMailboxEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mailboxes/me/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["extendMailbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mailboxes/me/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMessages"];
        put?: never;
        post: operations["injectMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mailboxes/me/otp/latest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getLatestOtp"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["updateAccount"];
        trace?: never;
    };
    "/api/v1/me/2fa": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTwoFactor"];
        put?: never;
        post?: never;
        delete: operations["endTwoFactor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/2fa/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["confirmTwoFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/2fa/setup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["setUpTwoFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listKeys"];
        put?: never;
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/api-keys/{prefix}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPrivateDomains"];
        put?: never;
        post: operations["createPrivateDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deletePrivateDomain"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/domains/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["verifyPrivateDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["streamAccountEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/filters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listFilters"];
        put?: never;
        post: operations["createFilter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/filters/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["testFilter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/filters/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteFilter"];
        options?: never;
        head?: never;
        patch: operations["updateFilter"];
        trace?: never;
    };
    "/api/v1/me/mailboxes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAccountMailboxes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/subscription": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSubscription"];
        put?: never;
        post: operations["createSubscription"];
        delete: operations["endSubscription"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/wallet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWallet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/wallet/topups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createTopup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/wallet/topups/{orderId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTopup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/wallet/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWalletTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhooks"];
        put?: never;
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/api/v1/me/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks/{id}/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["redeliverWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/me/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMessage"];
        put?: never;
        post?: never;
        delete: operations["deleteMessage"];
        options?: never;
        head?: never;
        patch: operations["updateMessage"];
        trace?: never;
    };
    "/api/v1/messages/{id}/attachments/{attId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAttachment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/messages/{id}/raw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMessageRaw"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/payment-providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPaymentProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPlans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSession"];
        put?: never;
        post: operations["startSession"];
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/blocks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listBlocks"];
        put?: never;
        post: operations["addBlock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/blocks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["removeBlock"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPublicDomains"];
        put?: never;
        post: operations["addPublicDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/domains/{domain}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["disablePublicDomain"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/mailboxes/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["findMailbox"];
        put?: never;
        post?: never;
        delete: operations["endMailbox"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listStaffMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/messages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getStaffMessage"];
        put?: never;
        post?: never;
        delete: operations["deleteStaffMessage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/notices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAllNotices"];
        put?: never;
        post: operations["publishNotice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/notices/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["withdrawNotice"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/pages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAllPages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/pages/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["putPage"];
        post?: never;
        delete: operations["removePage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPayments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/payments/{id}/resolution": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resolvePayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listUsers"];
        put?: never;
        post: operations["addUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/users/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["changeUser"];
        trace?: never;
    };
    "/api/v1/staff/users/{user}/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resetPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staff/users/{user}/points": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["adjustPoints"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Account: {
            /** Format: date-time */
            createdAt: string;
            /** Format: email */
            email: string;
            /** @example acc_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @example en */
            locale: string;
            /** @example free */
            plan: string;
            /** @enum {string} */
            role: "user" | "staff";
            /** @enum {string} */
            twoFactor: "off" | "pending" | "active";
        };
        AccountAnswer: {
            data: components["schemas"]["Account"];
        };
        AccountUpdate: {
            /** @example vi-VN */
            locale?: string;
        };
        Attachment: {
            available: boolean;
            /** @example logo@example.org */
            contentId: string | null;
            /** @example application/pdf */
            contentType: string;
            /** @example invoice.pdf */
            filename: string;
            /** @example att_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            inline: boolean;
            /** @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 */
            sha256: string;
            /**
             * Format: int64
             * @example 48211
             */
            size: number;
        };
        AuditEntry: {
            /** @example user.disable */
            action: string;
            /** @example staff@example.org */
            actor: string;
            /** Format: date-time */
            at: string;
            /** @example plus */
            detail: string;
            /** @example aud_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @example you@example.org */
            target: string;
        };
        AuditEntryPage: {
            data: components["schemas"]["AuditEntry"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        BankAccount: {
            /** @example CONG TY GONEBOX */
            accountName: string;
            /** @example 0011001932418 */
            accountNumber: string;
            /** @example 970436 */
            bin: string;
            /** @example Vietcombank */
            name: string;
        };
        BankReceipt: {
            /** @enum {boolean} */
            success: true;
        };
        BankTransaction: {
            /** @example 0011001932418 */
            accountNumber?: unknown;
            accumulated?: unknown;
            code?: unknown;
            /** @example GBACDEFHJK */
            content?: unknown;
            description?: unknown;
            /** @example Vietcombank */
            gateway?: unknown;
            /** @example 92704 */
            id: unknown;
            /** @example MBVCB.3278907687 */
            referenceCode?: unknown;
            subAccount?: unknown;
            /** @example 2026-03-14 19:02:37 */
            transactionDate?: unknown;
            /** @example 100000 */
            transferAmount?: unknown;
            /** @example in */
            transferType?: unknown;
        };
        Block: {
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string | null;
            /** @example blk_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @example 192.0.2.0/24 */
            ip: string | null;
            /** @example floods the service */
            reason: string;
            /** @example admin*@box.example.org */
            recipient: string | null;
            /** @example @example.org */
            sender: string | null;
        };
        BlockAnswer: {
            data: components["schemas"]["Block"];
        };
        BlockCreation: {
            /** @example 72h */
            for?: string;
            /** @example 192.0.2.0/24 */
            ip?: string;
            /** @example floods the service */
            reason?: string;
            /** @example admin*@box.example.org */
            recipient?: string;
            /** @example @example.org */
            sender?: string;
        };
        BlockPage: {
            data: components["schemas"]["Block"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        Credentials: {
            /** @example 482913 */
            code?: string;
            /** @example you@example.org */
            email: string;
            /** @example correct horse battery staple */
            password: string;
        };
        Delivery: {
            /** Format: int64 */
            attempt: number;
            /** Format: date-time */
            attemptedAt: string;
            /**
             * Format: int64
             * @example 84
             */
            durationMs: number;
            /** @example the endpoint did not answer in time */
            error: string | null;
            /** @example message.received */
            event: string;
            /** @example evt_01jzq8w3v5e4t9n2k7m6x0y1dr */
            eventId: string;
            /** Format: int64 */
            httpStatus: number | null;
            /** @example dlv_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** Format: date-time */
            nextAttemptAt: string | null;
            /** @enum {string} */
            outcome: "succeeded" | "failed";
            /** @example thanks */
            responseBody: string;
        };
        DeliveryPage: {
            data: components["schemas"]["Delivery"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        DomainClaim: {
            /** @example mail.example.org */
            domain: string;
        };
        DomainRecord: {
            /** @example _gonebox.mail.example.org */
            name: string;
            ok: boolean;
            /** Format: int64 */
            priority: number | null;
            /** @enum {string} */
            type: "TXT" | "MX";
            /** @example gonebox-verify=5f0c1d7ab3e94c2f8a6d0b7e13c95a42 */
            value: string;
        };
        Enrolment: {
            /** Format: date-time */
            expiresAt: string;
            /**
             * Format: uri
             * @example otpauth://totp/Gonebox:you@example.org?secret=JBSWY3DPEHPK3PXP&issuer=Gonebox
             */
            otpauthUrl: string;
            /** @example JBSWY3DPEHPK3PXP */
            secret: string;
        };
        EnrolmentAnswer: {
            data: components["schemas"]["Enrolment"];
        };
        Entitlements: {
            /** Format: int64 */
            "domains.max": number;
            /** Format: int64 */
            "filters.max": number;
            /** @example 120/1m */
            "keys.calls": string;
            /** @example 60/1m */
            "keys.mailbox_create": string;
            /** Format: int64 */
            "keys.max": number;
            /** Format: int64 */
            "mail.daily.max": number;
            /** Format: int64 */
            "mailbox.lifetime.max": number | null;
            /** Format: int64 */
            "mailbox.ttl.default": number;
            /** Format: int64 */
            "mailbox.ttl.max": number;
            /** Format: int64 */
            "mailboxes.max": number;
            /** Format: int64 */
            "raw.retention": number;
            /** Format: int64 */
            "webhooks.max": number;
        };
        Filter: {
            /** Format: date-time */
            createdAt: string;
            /** @example dom_01jzq8w3v5e4t9n2k7m6x0y1dr */
            domainId: string | null;
            /** @example code is (?P<code>[0-9]{6}) */
            extractRegex: string;
            /** @example @door\.example$ */
            fromPattern: string | null;
            /** @example flt_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @example Door codes */
            name: string;
            /**
             * Format: int64
             * @example 100
             */
            priority: number;
            /** @enum {string} */
            scopeType: "all" | "domain";
            /** @enum {string} */
            status: "active" | "disabled";
            /** @example (?i)access */
            subjectPattern: string | null;
            /** Format: date-time */
            updatedAt: string;
        };
        FilterAnswer: {
            data: components["schemas"]["Filter"];
        };
        FilterCandidate: {
            chosen: boolean;
            /** @example 246 810 */
            display: string;
            reasons: string[];
            /**
             * Format: double
             * @example 4.2
             */
            score: number;
            /** @example 246810 */
            value: string;
            /** @enum {string} */
            where: "subject" | "preheader" | "text" | "html";
        };
        FilterCreation: {
            domainId?: string | null;
            /** @example order (\d{6}) */
            extractRegex: string;
            fromPattern?: string | null;
            /** @example Door codes */
            name: string;
            /** Format: int64 */
            priority?: number;
            /** @enum {string} */
            scopeType?: "all" | "domain";
            /** @enum {string} */
            status?: "active" | "disabled";
            subjectPattern?: string | null;
        };
        FilterPage: {
            data: components["schemas"]["Filter"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        FilterSample: {
            /** @example no-reply@shop.example */
            from?: string;
            /** @example Your sign-in code */
            subject?: string;
            /** @example Your sign-in code is 246810. */
            text?: string;
        };
        FilterTest: {
            filter: components["schemas"]["TestedFilter"];
            sample: components["schemas"]["FilterSample"];
        };
        FilterTrial: {
            /** @example 246810 */
            builtinCode: string | null;
            candidates: components["schemas"]["FilterCandidate"][];
            /** @example 246810 */
            code: string | null;
            matched: boolean;
            /** @enum {string} */
            step: "from" | "subject" | "extract" | "matched";
        };
        FilterTrialAnswer: {
            data: components["schemas"]["FilterTrial"];
        };
        FilterUpdate: {
            /** @example code is (?P<code>[0-9]{6}) */
            extractRegex?: string;
            /** @example @door\.example$ */
            fromPattern?: string | null;
            /** @example Door codes */
            name?: string;
            /**
             * Format: int64
             * @example 100
             */
            priority?: number;
            /** @enum {string} */
            status?: "active" | "disabled";
            /** @example (?i)access */
            subjectPattern?: string | null;
        };
        Health: {
            /** @enum {string} */
            status: "ok";
        };
        HealthAnswer: {
            data: components["schemas"]["Health"];
        };
        Key: {
            allowedCidrs: string[];
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string | null;
            /** @example x_k3v9q2_4f8s1d6g7h2j5k9m */
            key?: string;
            /** Format: date-time */
            lastUsedAt: string | null;
            /** @example CI */
            name: string;
            /** @example k3v9q2 */
            prefix: string;
            scopes: ("mailboxes:read" | "mailboxes:write" | "messages:read" | "otp:read")[];
            /** @example free */
            tier: string;
        };
        KeyAnswer: {
            data: components["schemas"]["Key"];
        };
        KeyCreation: {
            allowedCidrs?: string[];
            /** Format: date-time */
            expiresAt?: string;
            /** @example CI */
            name: string;
            scopes: ("mailboxes:read" | "mailboxes:write" | "messages:read" | "otp:read")[];
        };
        KeyPage: {
            data: components["schemas"]["Key"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        LedgerEntry: {
            /** Format: int64 */
            amount: number;
            /**
             * Format: int64
             * @example 120
             */
            balanceAfter: number;
            /** Format: date-time */
            createdAt: string;
            /** @example txn_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @enum {string} */
            kind: "topup" | "subscription" | "adjustment";
            /** @example Refund for a payment made twice */
            note: string | null;
            /** @example ord_01jzq8w3v5e4t9n2k7m6x0y1dr */
            reference: string | null;
        };
        LedgerEntryAnswer: {
            data: components["schemas"]["LedgerEntry"];
        };
        LedgerEntryPage: {
            data: components["schemas"]["LedgerEntry"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        MailAddress: {
            /** @example no-reply@shop.example */
            address: string;
            /** @example Quick Shop */
            name: string;
        };
        MailDelivery: {
            /** Format: date-time */
            at: string;
            /** @example 2.0.0 */
            code: string;
            /** @example bounce@shop.example */
            from: string;
            /** @example mail.shop.example */
            helo: string;
            /** @example msg_01jzq8w3v5e4t9n2k7m6x0y1dr */
            messageId: string | null;
            /** @example Message taken */
            reason: string;
            /** @example 198.51.100.7 */
            remoteIp: string;
            /**
             * Format: int64
             * @example 250
             */
            reply: number;
            tls: boolean;
        };
        MailDeliveryPage: {
            data: components["schemas"]["MailDelivery"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        Mailbox: {
            /**
             * Format: email
             * @example quiet-otter-4821@gonebox.localhost
             */
            address: string;
            /** Format: date-time */
            createdAt: string;
            /** @example gonebox.localhost */
            domain: string;
            /** Format: date-time */
            expiresAt: string;
            /** @example mbx_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @example quiet-otter-4821 */
            localPart: string;
            /**
             * Format: int64
             * @example 3
             */
            messageCount: number;
            /** @enum {string} */
            source: "guest" | "session" | "account" | "key" | "catchall" | "sink";
            /** @enum {string} */
            tier: "free" | "paid";
            /** @example xm_AQABhT9mZ2lRkq8nD0c3b1YvXw5tJ7uE2sGgHhKkLlMmNn */
            token?: string;
            /** Format: int64 */
            ttl: number;
            /**
             * Format: int64
             * @example 1
             */
            unreadCount: number;
        };
        MailboxAnswer: {
            data: components["schemas"]["Mailbox"];
        };
        MailboxCreation: {
            domain?: string;
            /** @example quiet-otter-4821 */
            localPart?: string;
            /** Format: int64 */
            ttl?: number;
        };
        MailboxExtension: {
            /** Format: int64 */
            ttl?: number;
        };
        MailboxPage: {
            data: components["schemas"]["Mailbox"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        Message: {
            attachments: components["schemas"]["Attachment"][];
            authentication: components["schemas"]["MessageAuthentication"];
            cc: components["schemas"]["MailAddress"][];
            envelope: components["schemas"]["MessageEnvelope"];
            from: components["schemas"]["MailAddress"];
            hasAttachments: boolean;
            headers: components["schemas"]["MessageHeader"][];
            /** @example <p>Your sign-in code is <b>246810</b>.</p> */
            html: string | null;
            /** @example msg_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            links: string[];
            /** @example mbx_01jzq8w3v5e4t9n2k7m6x0y1dr */
            mailboxId: string;
            /** @example 1a2b3c@shop.example */
            messageId: string;
            otp: components["schemas"]["OTP"] | null;
            /** @example Your sign-in code is 246810. */
            preview: string;
            /** Format: date-time */
            rawExpiresAt: string;
            /** Format: date-time */
            receivedAt: string;
            replyTo: components["schemas"]["MailAddress"][];
            seen: boolean;
            /** Format: date-time */
            sentAt: string | null;
            /** Format: int64 */
            size: number;
            /**
             * @example smtp
             * @enum {string}
             */
            source: "smtp" | "injected";
            /** @example Your sign-in code */
            subject: string;
            /** @example Your sign-in code is 246810. */
            text: string;
            to: components["schemas"]["MailAddress"][];
        };
        MessageAnswer: {
            data: components["schemas"]["Message"];
        };
        MessageAuthentication: {
            /** @enum {string} */
            dkim: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror";
            /** @enum {string} */
            dmarc: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror";
            /** @enum {string} */
            spf: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror";
        };
        MessageChange: {
            /** @example true */
            seen: boolean;
        };
        MessageEnvelope: {
            /** @example bounce@shop.example */
            from: string;
            /** @example mx.example.org */
            helo: string;
            /** @example 192.0.2.25 */
            remoteIp: string;
            tls: boolean;
            to: string[];
        };
        MessageHeader: {
            /** @example Subject */
            name: string;
            /** @example Your sign-in code */
            value: string;
        };
        MessageInjection: {
            attachments?: components["schemas"]["MessageInjectionAttachment"][];
            /** @example Quick Shop <no-reply@shop.example> */
            from?: string;
            html?: string;
            /** @example Your sign-in code */
            subject?: string;
            /** @example Your sign-in code is 246810. */
            text?: string;
        };
        MessageInjectionAttachment: {
            /** @example aGVsbG8= */
            content: string;
            /** @example application/pdf */
            contentType?: string;
            /** @example invoice.pdf */
            filename: string;
        };
        MessageSummary: {
            from: components["schemas"]["MailAddress"];
            hasAttachments: boolean;
            /** @example msg_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @example mbx_01jzq8w3v5e4t9n2k7m6x0y1dr */
            mailboxId: string;
            otp: components["schemas"]["OTP"] | null;
            /** @example Your sign-in code is 246810. */
            preview: string;
            /** Format: date-time */
            receivedAt: string;
            seen: boolean;
            /** Format: date-time */
            sentAt: string | null;
            /** Format: int64 */
            size: number;
            /**
             * @example smtp
             * @enum {string}
             */
            source: "smtp" | "injected";
            /** @example Your sign-in code */
            subject: string;
            to: components["schemas"]["MailAddress"][];
        };
        MessageSummaryAnswer: {
            data: components["schemas"]["MessageSummary"];
        };
        MessageSummaryPage: {
            data: components["schemas"]["MessageSummary"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        Notice: {
            dismissible: boolean;
            /** Format: date-time */
            endsAt: string | null;
            /** @example <p>The service is down from 02:00 to 02:30 UTC.</p> */
            html: string;
            /** @example ntc_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @enum {string} */
            kind: "banner" | "dialog";
            /** @enum {string} */
            level: "info" | "warning" | "critical";
            /** @example en */
            locale: string | null;
            /** Format: date-time */
            startsAt: string;
            /** @example Maintenance on Sunday */
            title: string;
        };
        NoticePage: {
            data: components["schemas"]["Notice"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        NoticePublication: {
            dismissible?: boolean;
            /** Format: date-time */
            endsAt?: string;
            /** @example <p>The service is down from 02:00 to 02:30 UTC.</p> */
            html?: string;
            /** @enum {string} */
            kind?: "banner" | "dialog";
            /** @enum {string} */
            level?: "info" | "warning" | "critical";
            /** @example en */
            locale?: string;
            /** Format: date-time */
            startsAt?: string;
            /** @example Maintenance on Sunday */
            title: string;
        };
        OTP: {
            /** @example 246810 */
            code: string;
            /**
             * Format: double
             * @example 0.98
             */
            confidence: number;
            /** @example 246 810 */
            display: string;
            /** @example flt_01jzq8w3v5e4t9n2k7m6x0y1dr */
            filterId: string | null;
            from: components["schemas"]["MailAddress"];
            /** @enum {string} */
            kind: "numeric" | "alphanumeric" | "phrase";
            links: string[];
            /** @example msg_01jzq8w3v5e4t9n2k7m6x0y1dr */
            messageId: string;
            /** Format: date-time */
            receivedAt: string;
            /** @enum {string} */
            source: "builtin" | "filter";
            /** @example Your sign-in code */
            subject: string;
        };
        OTPAnswer: {
            data: components["schemas"]["OTP"] | null;
        };
        Page: {
            /** @example <p>The service is down from 02:00 to 02:30 UTC.</p> */
            html: string;
            /** @example privacy */
            key: string;
            /** @example en */
            locale: string | null;
            /** @example Privacy */
            title: string;
            /** Format: date-time */
            updatedAt: string;
        };
        PageAnswer: {
            data: components["schemas"]["Page"];
        };
        PagePublication: {
            /** @example <h1>Privacy</h1><p>Mailboxes are erased when they end.</p> */
            html: string;
            /** @example en */
            locale?: string;
            /** @example Privacy */
            title: string;
        };
        PageTitle: {
            /** @example privacy */
            key: string;
            /** @example Privacy */
            title: string;
        };
        PageTitlePage: {
            data: components["schemas"]["PageTitle"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        PasswordReset: {
            endTwoFactor?: boolean;
            /** @example correct horse battery */
            password?: string;
        };
        Payment: {
            /** @example acc_01jzq8w3v5e4t9n2k7m6x0y1dr */
            account: string | null;
            /**
             * Format: int64
             * @example 50000
             */
            amount: number;
            /** @example GBX7K2M9 */
            content: string;
            /** @example in */
            direction: string;
            /** @example 92704 */
            id: string;
            /** @example paid without the memo */
            note: string | null;
            /** @example ord_01jzq8w3v5e4t9n2k7m6x0y1dr */
            order: string | null;
            /** @enum {string} */
            outcome: "new" | "credited" | "unmatched" | "ignored" | "resolved";
            /**
             * Format: int64
             * @example 50
             */
            points: number;
            /** @example no_memo */
            reason: string | null;
            /** Format: date-time */
            receivedAt: string;
            /** Format: date-time */
            settledAt: string | null;
            /** @example staff@example.org */
            staff: string | null;
        };
        PaymentAnswer: {
            data: components["schemas"]["Payment"];
        };
        PaymentPage: {
            data: components["schemas"]["Payment"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        PaymentResolution: {
            ignore?: boolean;
            /** @example paid without the memo, confirmed by mail */
            note: string;
            /** @example ord_01jzq8w3v5e4t9n2k7m6x0y1dr */
            order?: string;
            /** @example you@example.org */
            user?: string;
        };
        Plan: {
            /** @example plus */
            code: string;
            entitlements: components["schemas"]["Entitlements"];
            /** @example Plus */
            name: string;
            prices: components["schemas"]["PlanPrices"];
        };
        PlanPage: {
            data: components["schemas"]["Plan"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        PlanPrices: {
            /** Format: int64 */
            monthly: number | null;
            /** Format: int64 */
            yearly: number | null;
        };
        PointsAdjustment: {
            /** @example for the outage of 14 March */
            note: string;
            /**
             * Format: int64
             * @example 50
             */
            points: number;
        };
        PrivateDomain: {
            /** Format: date-time */
            checkedAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** @example mail.example.org */
            domain: string;
            /** @example dom_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            records: components["schemas"]["DomainRecord"][];
            /** @enum {string} */
            status: "pending" | "verified" | "suspended";
            /** Format: date-time */
            verifiedAt: string | null;
        };
        PrivateDomainAnswer: {
            data: components["schemas"]["PrivateDomain"];
        };
        PrivateDomainPage: {
            data: components["schemas"]["PrivateDomain"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        Problem: {
            /** @example request.invalid */
            code: string;
            /** @example The body has one fault. */
            detail?: string;
            errors?: components["schemas"]["ProblemField"][];
            /** Format: int64 */
            status: number;
            /** @example The request is not valid. */
            title: string;
            /** @example 4bf92f3577b34da6a3ce929d0e0e4736 */
            traceId: string;
            /** Format: uri */
            type: string;
        };
        ProblemField: {
            /** @example must be at most 86400 */
            message: string;
            /** @example /ttl */
            pointer: string;
        };
        Provider: {
            /** @enum {string} */
            code: "bankpay" | "bnb";
            /**
             * @example [
             *       "VND"
             *     ]
             */
            currencies: string[];
            /** Format: int64 */
            maxAmount: number;
            /** Format: int64 */
            minAmount: number;
            /** @example Bank transfer */
            name: string;
            /** @enum {string} */
            status: "active" | "coming_soon" | "disabled";
        };
        ProviderPage: {
            data: components["schemas"]["Provider"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        PublicDomain: {
            default: boolean;
            /** @example gonebox.localhost */
            domain: string;
        };
        PublicDomainCreation: {
            /** @example box.example.org */
            domain: string;
        };
        PublicDomainPage: {
            data: components["schemas"]["PublicDomain"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        Readiness: {
            checks: components["schemas"]["ReadinessChecks"];
            /** @enum {string} */
            status: "ok" | "unavailable" | "stopping";
        };
        ReadinessAnswer: {
            data: components["schemas"]["Readiness"];
        };
        ReadinessChecks: {
            /** @example ok */
            database: string;
            /** @example ok */
            jobs: string;
            /** @example ok */
            migrations: string;
            /** @example ok */
            smtp: string;
        };
        Registration: {
            /** @example you@example.org */
            email: string;
            /** @example QCNLBB4VPDLGVWWYUN2ENUUEPC */
            invite?: string;
            /** @example vi-VN */
            locale?: string;
            /** @example correct horse battery staple */
            password: string;
        };
        Sent: {
            /** @example evt_01jzq8w3v5e4t9n2k7m6x0y1dr */
            eventId: string;
        };
        SentAnswer: {
            data: components["schemas"]["Sent"];
        };
        Session: {
            /** Format: date-time */
            expiresAt: string;
            mailboxes: components["schemas"]["Mailbox"][];
        };
        SessionAnswer: {
            data: components["schemas"]["Session"];
        };
        SessionKey: {
            /** Format: date-time */
            expiresAt: string;
            /** @example xg_AQABhT9mZ2lRkq8nD0c3b1Yv */
            key: string;
        };
        SessionKeyAnswer: {
            data: components["schemas"]["SessionKey"];
        };
        StaffDomain: {
            active: boolean;
            /** @example box.example.org */
            domain: string;
        };
        StaffDomainAnswer: {
            data: components["schemas"]["StaffDomain"];
        };
        StaffDomainPage: {
            data: components["schemas"]["StaffDomain"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        StaffMailbox: {
            /** @example acc_01jzq8w3v5e4t9n2k7m6x0y1dr */
            account: string | null;
            /** @example shiny-otter-0042@box.example.org */
            address: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            expiresAt: string;
            /** @example mbx_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /**
             * Format: int64
             * @example 3
             */
            messageCount: number;
            /** @example guest */
            source: string;
        };
        StaffMailboxAnswer: {
            data: components["schemas"]["StaffMailbox"];
        };
        StaffNotice: {
            /** Format: date-time */
            createdAt: string;
            dismissible: boolean;
            /** Format: date-time */
            endsAt: string | null;
            /** @example <p>The service is down from 02:00 to 02:30 UTC.</p> */
            html: string;
            /** @example ntc_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @enum {string} */
            kind: "banner" | "dialog";
            /** @enum {string} */
            level: "info" | "warning" | "critical";
            /** @example en */
            locale: string | null;
            /** Format: date-time */
            startsAt: string;
            /** @enum {string} */
            state: "scheduled" | "shown" | "over" | "withdrawn";
            /** @example Maintenance on Sunday */
            title: string;
            /** Format: date-time */
            withdrawnAt: string | null;
        };
        StaffNoticeAnswer: {
            data: components["schemas"]["StaffNotice"];
        };
        StaffNoticePage: {
            data: components["schemas"]["StaffNotice"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        StaffPage: {
            /** @example privacy */
            key: string;
            /** @example en */
            locale: string | null;
            /** @example Privacy */
            title: string;
            /** Format: date-time */
            updatedAt: string;
        };
        StaffPagePage: {
            data: components["schemas"]["StaffPage"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        StaffUser: {
            /** Format: date-time */
            createdAt: string;
            disabled: boolean;
            /** @example you@example.org */
            email: string;
            /** @example acc_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @example en */
            locale: string;
            /** @example free */
            plan: string;
            /** @enum {string} */
            role: "user" | "staff";
            /** @enum {string} */
            twoFactor: "off" | "pending" | "active";
        };
        StaffUserAnswer: {
            data: components["schemas"]["StaffUser"];
        };
        StaffUserPage: {
            data: components["schemas"]["StaffUser"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        StaffUserPassword: {
            /** Format: date-time */
            createdAt: string;
            disabled: boolean;
            /** @example you@example.org */
            email: string;
            /** @example acc_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @example en */
            locale: string;
            /** @example X5K2W7QJ4M3N6P2R5T7V2W4Y6Z */
            password: string | null;
            /** @example free */
            plan: string;
            /** @enum {string} */
            role: "user" | "staff";
            /** @enum {string} */
            twoFactor: "off" | "pending" | "active";
        };
        StaffUserPasswordAnswer: {
            data: components["schemas"]["StaffUserPassword"];
        };
        Subscription: {
            autoRenew: boolean;
            /** Format: date-time */
            currentPeriodEnd: string;
            /** @example sub_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @enum {string} */
            interval: "monthly" | "yearly";
            /** @example plus */
            planCode: string;
            /** Format: int64 */
            price: number;
            /** Format: date-time */
            startedAt: string;
            /** @enum {string} */
            status: "active" | "cancelled" | "expired";
        };
        SubscriptionState: {
            entitlements: components["schemas"]["Entitlements"];
            /** @example plus */
            plan: string;
            subscription: components["schemas"]["Subscription"] | null;
        };
        SubscriptionStateAnswer: {
            data: components["schemas"]["SubscriptionState"];
        };
        SubscriptionWish: {
            /** @enum {string} */
            interval: "monthly" | "yearly";
            /** @example plus */
            planCode: string;
        };
        TestedFilter: {
            /** @example order (\d{6}) */
            extractRegex: string;
            fromPattern?: string | null;
            subjectPattern?: string | null;
        };
        Topup: {
            /**
             * Format: int64
             * @example 50000
             */
            amount: number;
            bank: components["schemas"]["BankAccount"];
            /** Format: date-time */
            createdAt: string;
            /** @enum {string} */
            currency: "VND";
            /** Format: date-time */
            expiresAt: string;
            /** @example ord_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** @example GBK7TR9X3W */
            memo: string;
            /** Format: date-time */
            paidAt: string | null;
            /** Format: int64 */
            points: number;
            /** @enum {string} */
            provider: "bankpay" | "bnb";
            /** @example 00020101021238570010A000000727 */
            qr: string;
            /** @enum {string} */
            status: "pending" | "paid" | "expired";
        };
        TopupAnswer: {
            data: components["schemas"]["Topup"];
        };
        TopupCreation: {
            /**
             * Format: int64
             * @example 50000
             */
            amount: number;
            /** @enum {string} */
            currency: "VND";
            /** @enum {string} */
            provider: "bankpay" | "bnb";
        };
        TwoFactor: {
            /** Format: date-time */
            pendingExpiresAt: string | null;
            /**
             * Format: int64
             * @example 10
             */
            recoveryCodesLeft: number;
            /** @enum {string} */
            status: "off" | "pending" | "active";
        };
        TwoFactorAnswer: {
            data: components["schemas"]["TwoFactor"];
        };
        TwoFactorCode: {
            /** @example 482913 */
            code: string;
        };
        TwoFactorConfirmed: {
            recoveryCodes: string[];
            /** @enum {string} */
            status: "active";
        };
        TwoFactorConfirmedAnswer: {
            data: components["schemas"]["TwoFactorConfirmed"];
        };
        UserCreation: {
            /** @example ci@example.org */
            email: string;
            /** @example correct horse battery */
            password?: string;
            /** @example pro */
            plan?: string;
            /** @enum {string} */
            role?: "user" | "staff";
        };
        UserToken: {
            account: components["schemas"]["Account"];
            /** Format: date-time */
            expiresAt: string;
            /** @example xu_AQABhT9mZ2lRkq8nD0c3b1Yv */
            token: string;
            /** @enum {string} */
            tokenType: "Bearer";
        };
        UserTokenAnswer: {
            data: components["schemas"]["UserToken"];
        };
        UserUpdate: {
            disabled?: boolean;
            /** @example plus */
            plan?: string;
            /** @enum {string} */
            role?: "user" | "staff";
        };
        Wallet: {
            /** Format: int64 */
            balance: number;
            /** @enum {string} */
            currency: "POINT";
            /** Format: int64 */
            pendingTopups: number;
        };
        WalletAnswer: {
            data: components["schemas"]["Wallet"];
        };
        Webhook: {
            /** Format: date-time */
            createdAt: string;
            /** @example dom_01jzq8w3v5e4t9n2k7m6x0y1dr */
            domainId: string | null;
            events: string[];
            /** Format: int64 */
            failureCount: number;
            /** @example whk_01jzq8w3v5e4t9n2k7m6x0y1dr */
            id: string;
            /** Format: date-time */
            lastDeliveryAt: string | null;
            /** @enum {string|null} */
            pausedReason: "manual" | "failures" | "gone" | null;
            /** @example whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD */
            secret?: string;
            /** @enum {string} */
            status: "active" | "paused";
            /** @example https://hooks.example.org/gonebox */
            url: string;
        };
        WebhookAnswer: {
            data: components["schemas"]["Webhook"];
        };
        WebhookCreation: {
            domainId?: string | null;
            events: ("message.received" | "otp.extracted" | "mailbox.created" | "mailbox.expired" | "domain.verified" | "domain.suspended" | "webhook.ping")[];
            /** @example https://hooks.example.org/gonebox */
            url: string;
        };
        WebhookPage: {
            data: components["schemas"]["Webhook"][];
            /** @example bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy */
            nextCursor: string | null;
        };
        WebhookUpdate: {
            events?: ("message.received" | "otp.extracted" | "mailbox.created" | "mailbox.expired" | "domain.verified" | "domain.suspended" | "webhook.ping")[];
            /** @enum {string} */
            status?: "active" | "paused";
            /** @example https://hooks.example.org/gonebox */
            url?: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    registerAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "you@example.org",
                 *       "invite": "QCNLBB4VPDLGVWWYUN2ENUUEPC",
                 *       "locale": "vi-VN",
                 *       "password": "correct horse battery staple"
                 *     }
                 */
                "application/json": components["schemas"]["Registration"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "account": {
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "email": "sender@example.org",
                     *           "id": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "locale": "en",
                     *           "plan": "free",
                     *           "role": "user",
                     *           "twoFactor": "off"
                     *         },
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "token": "xu_AQABhT9mZ2lRkq8nD0c3b1Yv",
                     *         "tokenType": "Bearer"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["UserTokenAnswer"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "482913",
                 *       "email": "you@example.org",
                 *       "password": "correct horse battery staple"
                 *     }
                 */
                "application/json": components["schemas"]["Credentials"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "account": {
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "email": "sender@example.org",
                     *           "id": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "locale": "en",
                     *           "plan": "free",
                     *           "role": "user",
                     *           "twoFactor": "off"
                     *         },
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "token": "xu_AQABhT9mZ2lRkq8nD0c3b1Yv",
                     *         "tokenType": "Bearer"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["UserTokenAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listNotices: {
        parameters: {
            query?: {
                locale?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "dismissible": true,
                     *           "endsAt": "2026-03-14T09:26:53.589Z",
                     *           "html": "<p>The service is down from 02:00 to 02:30 UTC.</p>",
                     *           "id": "ntc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "kind": "banner",
                     *           "level": "info",
                     *           "locale": "en",
                     *           "startsAt": "2026-03-14T09:26:53.589Z"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["NoticePage"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listPages: {
        parameters: {
            query?: {
                locale?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "key": "privacy"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["PageTitlePage"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getPage: {
        parameters: {
            query?: {
                locale?: string;
            };
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "html": "<p>The service is down from 02:00 to 02:30 UTC.</p>",
                     *         "key": "privacy",
                     *         "locale": "en",
                     *         "updatedAt": "2026-03-14T09:26:53.589Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PageAnswer"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listDomains: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "domain": "gonebox.localhost"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["PublicDomainPage"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "status": "ok"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["HealthAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    reportBankTransaction: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "accountNumber": "0011001932418",
                 *       "content": "GBACDEFHJK",
                 *       "gateway": "Vietcombank",
                 *       "id": 92704,
                 *       "referenceCode": "MBVCB.3278907687",
                 *       "transactionDate": "2026-03-14 19:02:37",
                 *       "transferAmount": 100000,
                 *       "transferType": "in"
                 *     }
                 */
                "application/json": components["schemas"]["BankTransaction"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true
                     *     }
                     */
                    "application/json": components["schemas"]["BankReceipt"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamKeyEvents: {
        parameters: {
            query?: {
                after?: string;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control"?: string;
                    "X-Accel-Buffering"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example event: deleted
                     *     data: {"mailboxId":"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr","id":"msg_01jzq8w3v5e4t9n2k7m6x0y1dr","seen":true}
                     *
                     *     event: mailbox
                     *     data: {"mailboxId":"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr","expiresAt":"2026-03-14T13:26:53.589Z","ttl":3600}
                     */
                    "text/event-stream": string;
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listKeyMailboxes: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "address": "quiet-otter-4821@gonebox.localhost",
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "domain": "gonebox.localhost",
                     *           "expiresAt": "2026-03-14T09:26:53.589Z",
                     *           "id": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "localPart": "quiet-otter-4821",
                     *           "messageCount": 3,
                     *           "source": "guest",
                     *           "tier": "free",
                     *           "token": "xm_AQABhT9mZ2lRkq8nD0c3b1YvXw5tJ7uE2sGgHhKkLlMmNn",
                     *           "ttl": 1,
                     *           "unreadCount": 1
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["MailboxPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createKeyMailbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "localPart": "quiet-otter-4821"
                 *     }
                 */
                "application/json": components["schemas"]["MailboxCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "address": "quiet-otter-4821@gonebox.localhost",
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domain": "gonebox.localhost",
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "id": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "localPart": "quiet-otter-4821",
                     *         "messageCount": 3,
                     *         "source": "guest",
                     *         "tier": "free",
                     *         "token": "xm_AQABhT9mZ2lRkq8nD0c3b1YvXw5tJ7uE2sGgHhKkLlMmNn",
                     *         "ttl": 1,
                     *         "unreadCount": 1
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MailboxAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    destroyKeyMailbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listKeyMailDeliveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "at": "2026-03-14T09:26:53.589Z",
                     *           "code": "2.0.0",
                     *           "from": "bounce@shop.example",
                     *           "helo": "mail.shop.example",
                     *           "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "reason": "Message taken",
                     *           "remoteIp": "198.51.100.7",
                     *           "reply": 250,
                     *           "tls": true
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["MailDeliveryPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listKeyMessages: {
        parameters: {
            query?: {
                wait?: number;
                after?: string;
                since?: string;
                from?: string;
                subject?: string;
                has?: ("code" | "link" | "attachment")[];
                unseen?: boolean;
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "from": {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           },
                     *           "hasAttachments": true,
                     *           "id": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "mailboxId": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "otp": {
                     *             "code": "246810",
                     *             "confidence": 0.98,
                     *             "display": "246 810",
                     *             "filterId": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *             "from": {
                     *               "address": "no-reply@shop.example",
                     *               "name": "Quick Shop"
                     *             },
                     *             "kind": "numeric",
                     *             "links": [],
                     *             "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *             "receivedAt": "2026-03-14T09:26:53.589Z",
                     *             "source": "builtin",
                     *             "subject": "Your sign-in code"
                     *           },
                     *           "preview": "Your sign-in code is 246810.",
                     *           "receivedAt": "2026-03-14T09:26:53.589Z",
                     *           "seen": true,
                     *           "sentAt": "2026-03-14T09:26:53.589Z",
                     *           "size": 1,
                     *           "source": "smtp",
                     *           "subject": "Your sign-in code",
                     *           "to": [
                     *             {
                     *               "address": "no-reply@shop.example",
                     *               "name": "Quick Shop"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["MessageSummaryPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getKeyLatestOtp: {
        parameters: {
            query?: {
                wait?: number;
                after?: string;
                since?: string;
                from?: string;
                subject?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "code": "246810",
                     *         "confidence": 0.98,
                     *         "display": "246 810",
                     *         "filterId": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "from": {
                     *           "address": "no-reply@shop.example",
                     *           "name": "Quick Shop"
                     *         },
                     *         "kind": "numeric",
                     *         "links": [],
                     *         "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "receivedAt": "2026-03-14T09:26:53.589Z",
                     *         "source": "builtin",
                     *         "subject": "Your sign-in code"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OTPAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createMailbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "localPart": "quiet-otter-4821"
                 *     }
                 */
                "application/json": components["schemas"]["MailboxCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "address": "quiet-otter-4821@gonebox.localhost",
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domain": "gonebox.localhost",
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "id": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "localPart": "quiet-otter-4821",
                     *         "messageCount": 3,
                     *         "source": "guest",
                     *         "tier": "free",
                     *         "token": "xm_AQABhT9mZ2lRkq8nD0c3b1YvXw5tJ7uE2sGgHhKkLlMmNn",
                     *         "ttl": 1,
                     *         "unreadCount": 1
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MailboxAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMailbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "address": "quiet-otter-4821@gonebox.localhost",
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domain": "gonebox.localhost",
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "id": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "localPart": "quiet-otter-4821",
                     *         "messageCount": 3,
                     *         "source": "guest",
                     *         "tier": "free",
                     *         "token": "xm_AQABhT9mZ2lRkq8nD0c3b1YvXw5tJ7uE2sGgHhKkLlMmNn",
                     *         "ttl": 1,
                     *         "unreadCount": 1
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MailboxAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    destroyMailbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listMailDeliveries: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "at": "2026-03-14T09:26:53.589Z",
                     *           "code": "2.0.0",
                     *           "from": "bounce@shop.example",
                     *           "helo": "mail.shop.example",
                     *           "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "reason": "Message taken",
                     *           "remoteIp": "198.51.100.7",
                     *           "reply": 250,
                     *           "tls": true
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["MailDeliveryPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamMailboxEvents: {
        parameters: {
            query?: {
                after?: string;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control"?: string;
                    "X-Accel-Buffering"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example event: message
                     *     id: msg_01jzq8w3v5e4t9n2k7m6x0y1dr
                     *     data: {"id":"msg_01jzq8w3v5e4t9n2k7m6x0y1dr","mailboxId":"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr","subject":"Your sign-in code","seen":false}
                     *
                     *     event: seen
                     *     data: {"id":"msg_01jzq8w3v5e4t9n2k7m6x0y1dr","seen":true}
                     *
                     *     event: end
                     *     data: {"reason":"expired"}
                     */
                    "text/event-stream": string;
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    extendMailbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["MailboxExtension"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "address": "quiet-otter-4821@gonebox.localhost",
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domain": "gonebox.localhost",
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "id": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "localPart": "quiet-otter-4821",
                     *         "messageCount": 3,
                     *         "source": "guest",
                     *         "tier": "free",
                     *         "token": "xm_AQABhT9mZ2lRkq8nD0c3b1YvXw5tJ7uE2sGgHhKkLlMmNn",
                     *         "ttl": 1,
                     *         "unreadCount": 1
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MailboxAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listMessages: {
        parameters: {
            query?: {
                wait?: number;
                after?: string;
                since?: string;
                from?: string;
                subject?: string;
                has?: ("code" | "link" | "attachment")[];
                unseen?: boolean;
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "from": {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           },
                     *           "hasAttachments": true,
                     *           "id": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "mailboxId": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "otp": {
                     *             "code": "246810",
                     *             "confidence": 0.98,
                     *             "display": "246 810",
                     *             "filterId": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *             "from": {
                     *               "address": "no-reply@shop.example",
                     *               "name": "Quick Shop"
                     *             },
                     *             "kind": "numeric",
                     *             "links": [],
                     *             "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *             "receivedAt": "2026-03-14T09:26:53.589Z",
                     *             "source": "builtin",
                     *             "subject": "Your sign-in code"
                     *           },
                     *           "preview": "Your sign-in code is 246810.",
                     *           "receivedAt": "2026-03-14T09:26:53.589Z",
                     *           "seen": true,
                     *           "sentAt": "2026-03-14T09:26:53.589Z",
                     *           "size": 1,
                     *           "source": "smtp",
                     *           "subject": "Your sign-in code",
                     *           "to": [
                     *             {
                     *               "address": "no-reply@shop.example",
                     *               "name": "Quick Shop"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["MessageSummaryPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    injectMessage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": "Quick Shop <no-reply@shop.example>",
                 *       "subject": "Your sign-in code",
                 *       "text": "Your sign-in code is 246810."
                 *     }
                 */
                "application/json": components["schemas"]["MessageInjection"];
                "message/rfc822": string;
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "attachments": [
                     *           {
                     *             "available": true,
                     *             "contentId": "logo@example.org",
                     *             "contentType": "application/pdf",
                     *             "filename": "invoice.pdf",
                     *             "id": "att_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *             "inline": true,
                     *             "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *             "size": 48211
                     *           }
                     *         ],
                     *         "authentication": {
                     *           "dkim": "pass",
                     *           "dmarc": "pass",
                     *           "spf": "pass"
                     *         },
                     *         "cc": [
                     *           {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           }
                     *         ],
                     *         "envelope": {
                     *           "from": "bounce@shop.example",
                     *           "helo": "mx.example.org",
                     *           "remoteIp": "192.0.2.25",
                     *           "tls": true,
                     *           "to": []
                     *         },
                     *         "from": {
                     *           "address": "no-reply@shop.example",
                     *           "name": "Quick Shop"
                     *         },
                     *         "hasAttachments": true,
                     *         "headers": [
                     *           {
                     *             "name": "Subject",
                     *             "value": "Your sign-in code"
                     *           }
                     *         ],
                     *         "html": "<p>Your sign-in code is <b>246810</b>.</p>",
                     *         "id": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "links": [],
                     *         "mailboxId": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "messageId": "1a2b3c@shop.example",
                     *         "otp": {
                     *           "code": "246810",
                     *           "confidence": 0.98,
                     *           "display": "246 810",
                     *           "filterId": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "from": {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           },
                     *           "kind": "numeric",
                     *           "links": [],
                     *           "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "receivedAt": "2026-03-14T09:26:53.589Z",
                     *           "source": "builtin",
                     *           "subject": "Your sign-in code"
                     *         },
                     *         "preview": "Your sign-in code is 246810.",
                     *         "rawExpiresAt": "2026-03-14T09:26:53.589Z",
                     *         "receivedAt": "2026-03-14T09:26:53.589Z",
                     *         "replyTo": [
                     *           {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           }
                     *         ],
                     *         "seen": true,
                     *         "sentAt": "2026-03-14T09:26:53.589Z",
                     *         "size": 1,
                     *         "source": "smtp",
                     *         "subject": "Your sign-in code",
                     *         "text": "Your sign-in code is 246810.",
                     *         "to": [
                     *           {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MessageAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getLatestOtp: {
        parameters: {
            query?: {
                wait?: number;
                after?: string;
                since?: string;
                from?: string;
                subject?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "code": "246810",
                     *         "confidence": 0.98,
                     *         "display": "246 810",
                     *         "filterId": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "from": {
                     *           "address": "no-reply@shop.example",
                     *           "name": "Quick Shop"
                     *         },
                     *         "kind": "numeric",
                     *         "links": [],
                     *         "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "receivedAt": "2026-03-14T09:26:53.589Z",
                     *         "source": "builtin",
                     *         "subject": "Your sign-in code"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["OTPAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "email": "sender@example.org",
                     *         "id": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "locale": "en",
                     *         "plan": "free",
                     *         "role": "user",
                     *         "twoFactor": "off"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AccountAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "locale": "vi-VN"
                 *     }
                 */
                "application/json": components["schemas"]["AccountUpdate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "email": "sender@example.org",
                     *         "id": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "locale": "en",
                     *         "plan": "free",
                     *         "role": "user",
                     *         "twoFactor": "off"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AccountAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "pendingExpiresAt": "2026-03-14T09:26:53.589Z",
                     *         "recoveryCodesLeft": 10,
                     *         "status": "off"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TwoFactorAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "482913"
                 *     }
                 */
                "application/json": components["schemas"]["TwoFactorCode"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    confirmTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "482913"
                 *     }
                 */
                "application/json": components["schemas"]["TwoFactorCode"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "recoveryCodes": [],
                     *         "status": "active"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TwoFactorConfirmedAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    setUpTwoFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "otpauthUrl": "otpauth://totp/Gonebox:you@example.org?secret=JBSWY3DPEHPK3PXP&issuer=Gonebox",
                     *         "secret": "JBSWY3DPEHPK3PXP"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["EnrolmentAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listKeys: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "allowedCidrs": [],
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "expiresAt": "2026-03-14T09:26:53.589Z",
                     *           "key": "x_k3v9q2_4f8s1d6g7h2j5k9m",
                     *           "lastUsedAt": "2026-03-14T09:26:53.589Z",
                     *           "name": "CI",
                     *           "prefix": "k3v9q2",
                     *           "scopes": [
                     *             "mailboxes:read"
                     *           ],
                     *           "tier": "free"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["KeyPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "CI",
                 *       "scopes": [
                 *         "mailboxes:read"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["KeyCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "allowedCidrs": [],
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "key": "x_k3v9q2_4f8s1d6g7h2j5k9m",
                     *         "lastUsedAt": "2026-03-14T09:26:53.589Z",
                     *         "name": "CI",
                     *         "prefix": "k3v9q2",
                     *         "scopes": [
                     *           "mailboxes:read"
                     *         ],
                     *         "tier": "free"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["KeyAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                prefix: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listPrivateDomains: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "checkedAt": "2026-03-14T09:26:53.589Z",
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "domain": "mail.example.org",
                     *           "id": "dom_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "records": [
                     *             {
                     *               "name": "_gonebox.mail.example.org",
                     *               "ok": true,
                     *               "priority": 1,
                     *               "type": "TXT",
                     *               "value": "gonebox-verify=5f0c1d7ab3e94c2f8a6d0b7e13c95a42"
                     *             }
                     *           ],
                     *           "status": "pending",
                     *           "verifiedAt": "2026-03-14T09:26:53.589Z"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["PrivateDomainPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createPrivateDomain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "domain": "mail.example.org"
                 *     }
                 */
                "application/json": components["schemas"]["DomainClaim"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "checkedAt": "2026-03-14T09:26:53.589Z",
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domain": "mail.example.org",
                     *         "id": "dom_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "records": [
                     *           {
                     *             "name": "_gonebox.mail.example.org",
                     *             "ok": true,
                     *             "priority": 1,
                     *             "type": "TXT",
                     *             "value": "gonebox-verify=5f0c1d7ab3e94c2f8a6d0b7e13c95a42"
                     *           }
                     *         ],
                     *         "status": "pending",
                     *         "verifiedAt": "2026-03-14T09:26:53.589Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PrivateDomainAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deletePrivateDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    verifyPrivateDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "checkedAt": "2026-03-14T09:26:53.589Z",
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domain": "mail.example.org",
                     *         "id": "dom_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "records": [
                     *           {
                     *             "name": "_gonebox.mail.example.org",
                     *             "ok": true,
                     *             "priority": 1,
                     *             "type": "TXT",
                     *             "value": "gonebox-verify=5f0c1d7ab3e94c2f8a6d0b7e13c95a42"
                     *           }
                     *         ],
                     *         "status": "pending",
                     *         "verifiedAt": "2026-03-14T09:26:53.589Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PrivateDomainAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    streamAccountEvents: {
        parameters: {
            query?: {
                after?: string;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Cache-Control"?: string;
                    "X-Accel-Buffering"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example event: deleted
                     *     data: {"mailboxId":"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr","id":"msg_01jzq8w3v5e4t9n2k7m6x0y1dr","seen":true}
                     *
                     *     event: mailbox
                     *     data: {"mailboxId":"mbx_01jzq8w3v5e4t9n2k7m6x0y1dr","expiresAt":"2026-03-14T13:26:53.589Z","ttl":3600}
                     */
                    "text/event-stream": string;
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listFilters: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "domainId": "dom_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "extractRegex": "code is (?P<code>[0-9]{6})",
                     *           "fromPattern": "@door\\.example$",
                     *           "id": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "name": "Door codes",
                     *           "priority": 100,
                     *           "scopeType": "all",
                     *           "status": "active",
                     *           "subjectPattern": "(?i)access",
                     *           "updatedAt": "2026-03-14T09:26:53.589Z"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["FilterPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createFilter: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "extractRegex": "order (\\d{6})",
                 *       "name": "Door codes"
                 *     }
                 */
                "application/json": components["schemas"]["FilterCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domainId": "dom_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "extractRegex": "code is (?P<code>[0-9]{6})",
                     *         "fromPattern": "@door\\.example$",
                     *         "id": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "name": "Door codes",
                     *         "priority": 100,
                     *         "scopeType": "all",
                     *         "status": "active",
                     *         "subjectPattern": "(?i)access",
                     *         "updatedAt": "2026-03-14T09:26:53.589Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FilterAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    testFilter: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "filter": {
                 *         "extractRegex": "order (\\d{6})"
                 *       },
                 *       "sample": {
                 *         "from": "no-reply@shop.example",
                 *         "subject": "Your sign-in code",
                 *         "text": "Your sign-in code is 246810."
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["FilterTest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "builtinCode": "246810",
                     *         "candidates": [
                     *           {
                     *             "chosen": true,
                     *             "display": "246 810",
                     *             "reasons": [],
                     *             "score": 4.2,
                     *             "value": "246810",
                     *             "where": "subject"
                     *           }
                     *         ],
                     *         "code": "246810",
                     *         "matched": true,
                     *         "step": "from"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FilterTrialAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteFilter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateFilter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "extractRegex": "code is (?P<code>[0-9]{6})",
                 *       "fromPattern": "@door\\.example$",
                 *       "name": "Door codes",
                 *       "priority": 100,
                 *       "subjectPattern": "(?i)access"
                 *     }
                 */
                "application/json": components["schemas"]["FilterUpdate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domainId": "dom_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "extractRegex": "code is (?P<code>[0-9]{6})",
                     *         "fromPattern": "@door\\.example$",
                     *         "id": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "name": "Door codes",
                     *         "priority": 100,
                     *         "scopeType": "all",
                     *         "status": "active",
                     *         "subjectPattern": "(?i)access",
                     *         "updatedAt": "2026-03-14T09:26:53.589Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["FilterAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAccountMailboxes: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "address": "quiet-otter-4821@gonebox.localhost",
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "domain": "gonebox.localhost",
                     *           "expiresAt": "2026-03-14T09:26:53.589Z",
                     *           "id": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "localPart": "quiet-otter-4821",
                     *           "messageCount": 3,
                     *           "source": "guest",
                     *           "tier": "free",
                     *           "token": "xm_AQABhT9mZ2lRkq8nD0c3b1YvXw5tJ7uE2sGgHhKkLlMmNn",
                     *           "ttl": 1,
                     *           "unreadCount": 1
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["MailboxPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "entitlements": {
                     *           "domains.max": 1,
                     *           "filters.max": 1,
                     *           "keys.calls": "120/1m",
                     *           "keys.mailbox_create": "60/1m",
                     *           "keys.max": 1,
                     *           "mail.daily.max": 1,
                     *           "mailbox.lifetime.max": 1,
                     *           "mailbox.ttl.default": 1,
                     *           "mailbox.ttl.max": 1,
                     *           "mailboxes.max": 1,
                     *           "raw.retention": 1,
                     *           "webhooks.max": 1
                     *         },
                     *         "plan": "plus",
                     *         "subscription": {
                     *           "autoRenew": true,
                     *           "currentPeriodEnd": "2026-03-14T09:26:53.589Z",
                     *           "id": "sub_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "interval": "monthly",
                     *           "planCode": "plus",
                     *           "price": 1,
                     *           "startedAt": "2026-03-14T09:26:53.589Z",
                     *           "status": "active"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SubscriptionStateAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "interval": "monthly",
                 *       "planCode": "plus"
                 *     }
                 */
                "application/json": components["schemas"]["SubscriptionWish"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "entitlements": {
                     *           "domains.max": 1,
                     *           "filters.max": 1,
                     *           "keys.calls": "120/1m",
                     *           "keys.mailbox_create": "60/1m",
                     *           "keys.max": 1,
                     *           "mail.daily.max": 1,
                     *           "mailbox.lifetime.max": 1,
                     *           "mailbox.ttl.default": 1,
                     *           "mailbox.ttl.max": 1,
                     *           "mailboxes.max": 1,
                     *           "raw.retention": 1,
                     *           "webhooks.max": 1
                     *         },
                     *         "plan": "plus",
                     *         "subscription": {
                     *           "autoRenew": true,
                     *           "currentPeriodEnd": "2026-03-14T09:26:53.589Z",
                     *           "id": "sub_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "interval": "monthly",
                     *           "planCode": "plus",
                     *           "price": 1,
                     *           "startedAt": "2026-03-14T09:26:53.589Z",
                     *           "status": "active"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SubscriptionStateAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            402: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "entitlements": {
                     *           "domains.max": 1,
                     *           "filters.max": 1,
                     *           "keys.calls": "120/1m",
                     *           "keys.mailbox_create": "60/1m",
                     *           "keys.max": 1,
                     *           "mail.daily.max": 1,
                     *           "mailbox.lifetime.max": 1,
                     *           "mailbox.ttl.default": 1,
                     *           "mailbox.ttl.max": 1,
                     *           "mailboxes.max": 1,
                     *           "raw.retention": 1,
                     *           "webhooks.max": 1
                     *         },
                     *         "plan": "plus",
                     *         "subscription": {
                     *           "autoRenew": true,
                     *           "currentPeriodEnd": "2026-03-14T09:26:53.589Z",
                     *           "id": "sub_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "interval": "monthly",
                     *           "planCode": "plus",
                     *           "price": 1,
                     *           "startedAt": "2026-03-14T09:26:53.589Z",
                     *           "status": "active"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SubscriptionStateAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getWallet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "balance": 1,
                     *         "currency": "POINT",
                     *         "pendingTopups": 1
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WalletAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createTopup: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "amount": 50000,
                 *       "currency": "VND",
                 *       "provider": "bankpay"
                 *     }
                 */
                "application/json": components["schemas"]["TopupCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "amount": 50000,
                     *         "bank": {
                     *           "accountName": "CONG TY GONEBOX",
                     *           "accountNumber": "0011001932418",
                     *           "bin": "970436",
                     *           "name": "Vietcombank"
                     *         },
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "currency": "VND",
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "id": "ord_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "memo": "GBK7TR9X3W",
                     *         "paidAt": "2026-03-14T09:26:53.589Z",
                     *         "points": 1,
                     *         "provider": "bankpay",
                     *         "qr": "00020101021238570010A000000727",
                     *         "status": "pending"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TopupAnswer"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getTopup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                orderId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "amount": 50000,
                     *         "bank": {
                     *           "accountName": "CONG TY GONEBOX",
                     *           "accountNumber": "0011001932418",
                     *           "bin": "970436",
                     *           "name": "Vietcombank"
                     *         },
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "currency": "VND",
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "id": "ord_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "memo": "GBK7TR9X3W",
                     *         "paidAt": "2026-03-14T09:26:53.589Z",
                     *         "points": 1,
                     *         "provider": "bankpay",
                     *         "qr": "00020101021238570010A000000727",
                     *         "status": "pending"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TopupAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWalletTransactions: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "amount": 1,
                     *           "balanceAfter": 120,
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "id": "txn_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "kind": "topup",
                     *           "note": "Refund for a payment made twice",
                     *           "reference": "ord_01jzq8w3v5e4t9n2k7m6x0y1dr"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["LedgerEntryPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "domainId": "dom_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "events": [],
                     *           "failureCount": 1,
                     *           "id": "whk_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "lastDeliveryAt": "2026-03-14T09:26:53.589Z",
                     *           "pausedReason": "manual",
                     *           "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
                     *           "status": "active",
                     *           "url": "https://hooks.example.org/gonebox"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "events": [
                 *         "message.received"
                 *       ],
                 *       "url": "https://hooks.example.org/gonebox"
                 *     }
                 */
                "application/json": components["schemas"]["WebhookCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domainId": "dom_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "events": [],
                     *         "failureCount": 1,
                     *         "id": "whk_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "lastDeliveryAt": "2026-03-14T09:26:53.589Z",
                     *         "pausedReason": "manual",
                     *         "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
                     *         "status": "active",
                     *         "url": "https://hooks.example.org/gonebox"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://hooks.example.org/gonebox"
                 *     }
                 */
                "application/json": components["schemas"]["WebhookUpdate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domainId": "dom_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "events": [],
                     *         "failureCount": 1,
                     *         "id": "whk_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "lastDeliveryAt": "2026-03-14T09:26:53.589Z",
                     *         "pausedReason": "manual",
                     *         "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
                     *         "status": "active",
                     *         "url": "https://hooks.example.org/gonebox"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "attempt": 1,
                     *           "attemptedAt": "2026-03-14T09:26:53.589Z",
                     *           "durationMs": 84,
                     *           "error": "the endpoint did not answer in time",
                     *           "event": "message.received",
                     *           "eventId": "evt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "httpStatus": 1,
                     *           "id": "dlv_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "nextAttemptAt": "2026-03-14T09:26:53.589Z",
                     *           "outcome": "succeeded",
                     *           "responseBody": "thanks"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    redeliverWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "eventId": "evt_01jzq8w3v5e4t9n2k7m6x0y1dr"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SentAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "domainId": "dom_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "events": [],
                     *         "failureCount": 1,
                     *         "id": "whk_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "lastDeliveryAt": "2026-03-14T09:26:53.589Z",
                     *         "pausedReason": "manual",
                     *         "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
                     *         "status": "active",
                     *         "url": "https://hooks.example.org/gonebox"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "eventId": "evt_01jzq8w3v5e4t9n2k7m6x0y1dr"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SentAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "attachments": [
                     *           {
                     *             "available": true,
                     *             "contentId": "logo@example.org",
                     *             "contentType": "application/pdf",
                     *             "filename": "invoice.pdf",
                     *             "id": "att_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *             "inline": true,
                     *             "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *             "size": 48211
                     *           }
                     *         ],
                     *         "authentication": {
                     *           "dkim": "pass",
                     *           "dmarc": "pass",
                     *           "spf": "pass"
                     *         },
                     *         "cc": [
                     *           {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           }
                     *         ],
                     *         "envelope": {
                     *           "from": "bounce@shop.example",
                     *           "helo": "mx.example.org",
                     *           "remoteIp": "192.0.2.25",
                     *           "tls": true,
                     *           "to": []
                     *         },
                     *         "from": {
                     *           "address": "no-reply@shop.example",
                     *           "name": "Quick Shop"
                     *         },
                     *         "hasAttachments": true,
                     *         "headers": [
                     *           {
                     *             "name": "Subject",
                     *             "value": "Your sign-in code"
                     *           }
                     *         ],
                     *         "html": "<p>Your sign-in code is <b>246810</b>.</p>",
                     *         "id": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "links": [],
                     *         "mailboxId": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "messageId": "1a2b3c@shop.example",
                     *         "otp": {
                     *           "code": "246810",
                     *           "confidence": 0.98,
                     *           "display": "246 810",
                     *           "filterId": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "from": {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           },
                     *           "kind": "numeric",
                     *           "links": [],
                     *           "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "receivedAt": "2026-03-14T09:26:53.589Z",
                     *           "source": "builtin",
                     *           "subject": "Your sign-in code"
                     *         },
                     *         "preview": "Your sign-in code is 246810.",
                     *         "rawExpiresAt": "2026-03-14T09:26:53.589Z",
                     *         "receivedAt": "2026-03-14T09:26:53.589Z",
                     *         "replyTo": [
                     *           {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           }
                     *         ],
                     *         "seen": true,
                     *         "sentAt": "2026-03-14T09:26:53.589Z",
                     *         "size": 1,
                     *         "source": "smtp",
                     *         "subject": "Your sign-in code",
                     *         "text": "Your sign-in code is 246810.",
                     *         "to": [
                     *           {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MessageAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    updateMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "seen": true
                 *     }
                 */
                "application/json": components["schemas"]["MessageChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "from": {
                     *           "address": "no-reply@shop.example",
                     *           "name": "Quick Shop"
                     *         },
                     *         "hasAttachments": true,
                     *         "id": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "mailboxId": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "otp": {
                     *           "code": "246810",
                     *           "confidence": 0.98,
                     *           "display": "246 810",
                     *           "filterId": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "from": {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           },
                     *           "kind": "numeric",
                     *           "links": [],
                     *           "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "receivedAt": "2026-03-14T09:26:53.589Z",
                     *           "source": "builtin",
                     *           "subject": "Your sign-in code"
                     *         },
                     *         "preview": "Your sign-in code is 246810.",
                     *         "receivedAt": "2026-03-14T09:26:53.589Z",
                     *         "seen": true,
                     *         "sentAt": "2026-03-14T09:26:53.589Z",
                     *         "size": 1,
                     *         "source": "smtp",
                     *         "subject": "Your sign-in code",
                     *         "to": [
                     *           {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MessageSummaryAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getAttachment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                attId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Content-Disposition"?: string;
                    "Content-Security-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMessageRaw: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Content-Disposition"?: string;
                    "Content-Security-Policy"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "message/rfc822": string;
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listPaymentProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "code": "bankpay",
                     *           "currencies": [
                     *             "VND"
                     *           ],
                     *           "maxAmount": 1,
                     *           "minAmount": 1,
                     *           "name": "Bank transfer",
                     *           "status": "active"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["ProviderPage"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listPlans: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "code": "plus",
                     *           "entitlements": {
                     *             "domains.max": 1,
                     *             "filters.max": 1,
                     *             "keys.calls": "120/1m",
                     *             "keys.mailbox_create": "60/1m",
                     *             "keys.max": 1,
                     *             "mail.daily.max": 1,
                     *             "mailbox.lifetime.max": 1,
                     *             "mailbox.ttl.default": 1,
                     *             "mailbox.ttl.max": 1,
                     *             "mailboxes.max": 1,
                     *             "raw.retention": 1,
                     *             "webhooks.max": 1
                     *           },
                     *           "name": "Plus",
                     *           "prices": {
                     *             "monthly": 1,
                     *             "yearly": 1
                     *           }
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["PlanPage"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "checks": {
                     *           "database": "ok",
                     *           "jobs": "ok",
                     *           "migrations": "ok",
                     *           "smtp": "ok"
                     *         },
                     *         "status": "ok"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ReadinessAnswer"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "checks": {
                     *           "database": "ok",
                     *           "jobs": "ok",
                     *           "migrations": "ok",
                     *           "smtp": "ok"
                     *         },
                     *         "status": "ok"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ReadinessAnswer"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "mailboxes": [
                     *           {
                     *             "address": "quiet-otter-4821@gonebox.localhost",
                     *             "createdAt": "2026-03-14T09:26:53.589Z",
                     *             "domain": "gonebox.localhost",
                     *             "expiresAt": "2026-03-14T09:26:53.589Z",
                     *             "id": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *             "localPart": "quiet-otter-4821",
                     *             "messageCount": 3,
                     *             "source": "guest",
                     *             "tier": "free",
                     *             "token": "xm_AQABhT9mZ2lRkq8nD0c3b1YvXw5tJ7uE2sGgHhKkLlMmNn",
                     *             "ttl": 1,
                     *             "unreadCount": 1
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SessionAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    startSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "key": "xg_AQABhT9mZ2lRkq8nD0c3b1Yv"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["SessionKeyAnswer"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "action": "user.disable",
                     *           "actor": "staff@example.org",
                     *           "at": "2026-03-14T09:26:53.589Z",
                     *           "detail": "plus",
                     *           "id": "aud_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "target": "you@example.org"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["AuditEntryPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listBlocks: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "expiresAt": "2026-03-14T09:26:53.589Z",
                     *           "id": "blk_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "ip": "192.0.2.0/24",
                     *           "reason": "floods the service",
                     *           "recipient": "admin*@box.example.org",
                     *           "sender": "@example.org"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["BlockPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    addBlock: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "for": "72h",
                 *       "ip": "192.0.2.0/24",
                 *       "reason": "floods the service",
                 *       "recipient": "admin*@box.example.org",
                 *       "sender": "@example.org"
                 *     }
                 */
                "application/json": components["schemas"]["BlockCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "id": "blk_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "ip": "192.0.2.0/24",
                     *         "reason": "floods the service",
                     *         "recipient": "admin*@box.example.org",
                     *         "sender": "@example.org"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["BlockAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removeBlock: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query: {
                address: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "at": "2026-03-14T09:26:53.589Z",
                     *           "code": "2.0.0",
                     *           "from": "bounce@shop.example",
                     *           "helo": "mail.shop.example",
                     *           "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "reason": "Message taken",
                     *           "remoteIp": "198.51.100.7",
                     *           "reply": 250,
                     *           "tls": true
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["MailDeliveryPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listPublicDomains: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "active": true,
                     *           "domain": "box.example.org"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["StaffDomainPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    addPublicDomain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "domain": "box.example.org"
                 *     }
                 */
                "application/json": components["schemas"]["PublicDomainCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "active": true,
                     *         "domain": "box.example.org"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["StaffDomainAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    disablePublicDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                domain: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    findMailbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "account": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "address": "shiny-otter-0042@box.example.org",
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "expiresAt": "2026-03-14T09:26:53.589Z",
                     *         "id": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "messageCount": 3,
                     *         "source": "guest"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["StaffMailboxAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    endMailbox: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listStaffMessages: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "from": {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           },
                     *           "hasAttachments": true,
                     *           "id": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "mailboxId": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "otp": {
                     *             "code": "246810",
                     *             "confidence": 0.98,
                     *             "display": "246 810",
                     *             "filterId": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *             "from": {
                     *               "address": "no-reply@shop.example",
                     *               "name": "Quick Shop"
                     *             },
                     *             "kind": "numeric",
                     *             "links": [],
                     *             "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *             "receivedAt": "2026-03-14T09:26:53.589Z",
                     *             "source": "builtin",
                     *             "subject": "Your sign-in code"
                     *           },
                     *           "preview": "Your sign-in code is 246810.",
                     *           "receivedAt": "2026-03-14T09:26:53.589Z",
                     *           "seen": true,
                     *           "sentAt": "2026-03-14T09:26:53.589Z",
                     *           "size": 1,
                     *           "source": "smtp",
                     *           "subject": "Your sign-in code",
                     *           "to": [
                     *             {
                     *               "address": "no-reply@shop.example",
                     *               "name": "Quick Shop"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["MessageSummaryPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getStaffMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "attachments": [
                     *           {
                     *             "available": true,
                     *             "contentId": "logo@example.org",
                     *             "contentType": "application/pdf",
                     *             "filename": "invoice.pdf",
                     *             "id": "att_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *             "inline": true,
                     *             "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *             "size": 48211
                     *           }
                     *         ],
                     *         "authentication": {
                     *           "dkim": "pass",
                     *           "dmarc": "pass",
                     *           "spf": "pass"
                     *         },
                     *         "cc": [
                     *           {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           }
                     *         ],
                     *         "envelope": {
                     *           "from": "bounce@shop.example",
                     *           "helo": "mx.example.org",
                     *           "remoteIp": "192.0.2.25",
                     *           "tls": true,
                     *           "to": []
                     *         },
                     *         "from": {
                     *           "address": "no-reply@shop.example",
                     *           "name": "Quick Shop"
                     *         },
                     *         "hasAttachments": true,
                     *         "headers": [
                     *           {
                     *             "name": "Subject",
                     *             "value": "Your sign-in code"
                     *           }
                     *         ],
                     *         "html": "<p>Your sign-in code is <b>246810</b>.</p>",
                     *         "id": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "links": [],
                     *         "mailboxId": "mbx_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "messageId": "1a2b3c@shop.example",
                     *         "otp": {
                     *           "code": "246810",
                     *           "confidence": 0.98,
                     *           "display": "246 810",
                     *           "filterId": "flt_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "from": {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           },
                     *           "kind": "numeric",
                     *           "links": [],
                     *           "messageId": "msg_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "receivedAt": "2026-03-14T09:26:53.589Z",
                     *           "source": "builtin",
                     *           "subject": "Your sign-in code"
                     *         },
                     *         "preview": "Your sign-in code is 246810.",
                     *         "rawExpiresAt": "2026-03-14T09:26:53.589Z",
                     *         "receivedAt": "2026-03-14T09:26:53.589Z",
                     *         "replyTo": [
                     *           {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           }
                     *         ],
                     *         "seen": true,
                     *         "sentAt": "2026-03-14T09:26:53.589Z",
                     *         "size": 1,
                     *         "source": "smtp",
                     *         "subject": "Your sign-in code",
                     *         "text": "Your sign-in code is 246810.",
                     *         "to": [
                     *           {
                     *             "address": "no-reply@shop.example",
                     *             "name": "Quick Shop"
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["MessageAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    deleteStaffMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAllNotices: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "dismissible": true,
                     *           "endsAt": "2026-03-14T09:26:53.589Z",
                     *           "html": "<p>The service is down from 02:00 to 02:30 UTC.</p>",
                     *           "id": "ntc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "kind": "banner",
                     *           "level": "info",
                     *           "locale": "en",
                     *           "startsAt": "2026-03-14T09:26:53.589Z",
                     *           "state": "scheduled",
                     *           "withdrawnAt": "2026-03-14T09:26:53.589Z"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["StaffNoticePage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    publishNotice: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "html": "<p>The service is down from 02:00 to 02:30 UTC.</p>",
                 *       "locale": "en"
                 *     }
                 */
                "application/json": components["schemas"]["NoticePublication"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "dismissible": true,
                     *         "endsAt": "2026-03-14T09:26:53.589Z",
                     *         "html": "<p>The service is down from 02:00 to 02:30 UTC.</p>",
                     *         "id": "ntc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "kind": "banner",
                     *         "level": "info",
                     *         "locale": "en",
                     *         "startsAt": "2026-03-14T09:26:53.589Z",
                     *         "state": "scheduled",
                     *         "withdrawnAt": "2026-03-14T09:26:53.589Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["StaffNoticeAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    withdrawNotice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listAllPages: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "key": "privacy",
                     *           "locale": "en",
                     *           "updatedAt": "2026-03-14T09:26:53.589Z"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["StaffPagePage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    putPage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "html": "<h1>Privacy</h1><p>Mailboxes are erased when they end.</p>",
                 *       "locale": "en"
                 *     }
                 */
                "application/json": components["schemas"]["PagePublication"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "html": "<p>The service is down from 02:00 to 02:30 UTC.</p>",
                     *         "key": "privacy",
                     *         "locale": "en",
                     *         "updatedAt": "2026-03-14T09:26:53.589Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PageAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    removePage: {
        parameters: {
            query?: {
                locale?: string;
                everyLocale?: boolean;
            };
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listPayments: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                all?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "account": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "amount": 50000,
                     *           "content": "GBX7K2M9",
                     *           "direction": "in",
                     *           "id": "92704",
                     *           "note": "paid without the memo",
                     *           "order": "ord_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "outcome": "new",
                     *           "points": 50,
                     *           "reason": "no_memo",
                     *           "receivedAt": "2026-03-14T09:26:53.589Z",
                     *           "settledAt": "2026-03-14T09:26:53.589Z",
                     *           "staff": "staff@example.org"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["PaymentPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resolvePayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "note": "paid without the memo, confirmed by mail",
                 *       "order": "ord_01jzq8w3v5e4t9n2k7m6x0y1dr",
                 *       "user": "you@example.org"
                 *     }
                 */
                "application/json": components["schemas"]["PaymentResolution"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "account": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "amount": 50000,
                     *         "content": "GBX7K2M9",
                     *         "direction": "in",
                     *         "id": "92704",
                     *         "note": "paid without the memo",
                     *         "order": "ord_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "outcome": "new",
                     *         "points": 50,
                     *         "reason": "no_memo",
                     *         "receivedAt": "2026-03-14T09:26:53.589Z",
                     *         "settledAt": "2026-03-14T09:26:53.589Z",
                     *         "staff": "staff@example.org"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["PaymentAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    listUsers: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "createdAt": "2026-03-14T09:26:53.589Z",
                     *           "disabled": true,
                     *           "email": "you@example.org",
                     *           "id": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *           "locale": "en",
                     *           "plan": "free",
                     *           "role": "user",
                     *           "twoFactor": "off"
                     *         }
                     *       ],
                     *       "nextCursor": "bXNnXzAxanpxOHczdjVlNHQ5bjJrN202eDB5MWRy"
                     *     }
                     */
                    "application/json": components["schemas"]["StaffUserPage"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    addUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ci@example.org",
                 *       "password": "correct horse battery",
                 *       "plan": "pro"
                 *     }
                 */
                "application/json": components["schemas"]["UserCreation"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "disabled": true,
                     *         "email": "you@example.org",
                     *         "id": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "locale": "en",
                     *         "password": "X5K2W7QJ4M3N6P2R5T7V2W4Y6Z",
                     *         "plan": "free",
                     *         "role": "user",
                     *         "twoFactor": "off"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["StaffUserPasswordAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "disabled": true,
                     *         "email": "you@example.org",
                     *         "id": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "locale": "en",
                     *         "plan": "free",
                     *         "role": "user",
                     *         "twoFactor": "off"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["StaffUserAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    changeUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "plan": "plus"
                 *     }
                 */
                "application/json": components["schemas"]["UserUpdate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "disabled": true,
                     *         "email": "you@example.org",
                     *         "id": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "locale": "en",
                     *         "plan": "free",
                     *         "role": "user",
                     *         "twoFactor": "off"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["StaffUserAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resetPassword: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": components["schemas"]["PasswordReset"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "disabled": true,
                     *         "email": "you@example.org",
                     *         "id": "acc_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "locale": "en",
                     *         "password": "X5K2W7QJ4M3N6P2R5T7V2W4Y6Z",
                     *         "plan": "free",
                     *         "role": "user",
                     *         "twoFactor": "off"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["StaffUserPasswordAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    adjustPoints: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "note": "for the outage of 14 March",
                 *       "points": 50
                 *     }
                 */
                "application/json": components["schemas"]["PointsAdjustment"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "amount": 1,
                     *         "balanceAfter": 120,
                     *         "createdAt": "2026-03-14T09:26:53.589Z",
                     *         "id": "txn_01jzq8w3v5e4t9n2k7m6x0y1dr",
                     *         "kind": "topup",
                     *         "note": "Refund for a payment made twice",
                     *         "reference": "ord_01jzq8w3v5e4t9n2k7m6x0y1dr"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["LedgerEntryAnswer"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            402: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
